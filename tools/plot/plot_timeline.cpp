#include "tools/plot/plot_timeline.hpp"

#include <filesystem>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/plot/drawing.hpp"

namespace athanor {

ExitCode plot_timeline(const Invocation& invocation, const Streams& streams) {
  if (invocation.arguments.size() < 2) {
    throw UsageError("plot: which timeline? Write the file of `athanor run --trace FILE` after timeline");
  }
  const std::string& trace = invocation.arguments[1];
  if (!std::filesystem::exists(trace)) { throw FileError(fmt::format("{}: no such file", trace)); }
  const std::string picture = picture_path(invocation, "timeline-" + std::filesystem::path(trace).stem().string());
  std::vector<std::string> words{"--output", picture};
  if (invocation.has("title")) { words.insert(words.end(), {"--title", invocation.text("title")}); }
  draw_file(invocation, streams, "plot_timeline.py", trace, words, trace);
  return ExitCode::ok;
}

}  // namespace athanor
