#include "tools/command_line/result_sink.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/error.hpp"
#include "tools/command_line/output_file.hpp"
#include "tools/report/machine_readable.hpp"

namespace athanor {

ResultSink::ResultSink(const Invocation& invocation, const Streams& streams)
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

void ResultSink::print(std::string_view text) const {
  if (tables_) { streams_.out(text); }
}

void ResultSink::warn_of(const std::string& text) {
  if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) { return; }
  warnings_.push_back(text);
  if (!invocation_.quiet) { warn(streams_, text); }
}

void ResultSink::write(const char* option, const std::string& text) const {
  const std::string path = invocation_.text(option);
  if (path.empty()) {
    streams_.out(text);
  } else {
    write_text_file(path, text);
  }
}

void ResultSink::finish(const std::vector<Scenario>& scenarios, bool interrupted) {
  Manifest manifest{.command_line = invocation_.command_line,
                    .scenarios = {},
                    .seeds = {},
                    .warnings = warnings_,
                    .interrupted = interrupted};
  for (const Scenario& scenario : scenarios) {
    manifest.scenarios.push_back({scenario.path, scenario.hash});
    for (const Case& each : scenario.cases) { manifest.seeds.push_back(each.seed); }
  }
  manifest.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (invocation_.has("json")) { write("json", results_json(rows_, manifest)); }
  if (invocation_.has("csv")) { write("csv", results_csv(rows_)); }
  if (interrupted) { complain(streams_, "interrupted: the results are incomplete"); }
}

}  // namespace athanor
