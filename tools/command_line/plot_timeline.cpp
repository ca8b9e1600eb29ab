#include "tools/command_line/plot_timeline.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "sim/error.hpp"
#include "tools/command_line/drawing.hpp"
#include "tools/command_line/python.hpp"

namespace athanor {

ExitCode plot_timeline(const Invocation& invocation, const Streams& streams) {
  if (invocation.arguments.size() < 2) {
    throw UsageError("plot: which timeline? Write the file of `athanor run --trace FILE` after timeline");
  }
  const std::string& trace = invocation.arguments[1];
  if (!std::filesystem::exists(trace)) { throw FileError(fmt::format("{}: no such file", trace)); }
  const std::string picture = picture_path(invocation, "timeline-" + std::filesystem::path(trace).stem().string());
  const std::string script = plotting_script(invocation.library, "plot_timeline.py");
  std::vector<std::string> words{python_with("matplotlib"), script, trace, "--output", picture};
  if (invocation.has("title")) { words.insert(words.end(), {"--title", invocation.text("title")}); }
  const Finished finished = run_process(words);
  streams.out(finished.out);
  streams.err(finished.err);
  if (finished.status != 0) { throw FileError(fmt::format("plot: {} could not be drawn", trace)); }
  return ExitCode::ok;
}

}  // namespace athanor
