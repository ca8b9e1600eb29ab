#include "tools/cli/output_choice.hpp"

#include "sim/error.hpp"
#include "sim/printable.hpp"
#include "tools/cli/output_file.hpp"

namespace athanor {

OutputChoice::OutputChoice(const Invocation& invocation, const Streams& streams)
    : invocation_(invocation), streams_(streams) {
  int on_stdout = 0;
  for (const char* option : {"json", "csv"}) {
    if (!invocation.has(option)) { continue; }
    const std::string path = invocation.text(option);
    if (path.empty()) {
      ++on_stdout;
    } else {
      check_writable(path);
    }
  }
  if (on_stdout > 1) { throw UsageError("--json and --csv cannot share stdout; write one of them as --csv=FILE"); }
  tables_ = on_stdout == 0;
}

void OutputChoice::print(std::string_view text) const {
  if (tables_) { streams_.out(printable_lines(text)); }
}

void OutputChoice::write(const char* option, const std::function<std::string()>& text) const {
  if (!invocation_.has(option)) { return; }
  const std::string path = invocation_.text(option);
  if (path.empty()) {
    streams_.out(text());
  } else {
    write_text_file(path, text());
  }
}

}  // namespace athanor
