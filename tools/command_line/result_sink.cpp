#include "tools/command_line/result_sink.hpp"

#include <algorithm>

#include "tools/report/machine_readable.hpp"

namespace athanor {

ResultSink::ResultSink(const Invocation& invocation, const Streams& streams)
    : invocation_(invocation), streams_(streams), choice_(invocation, streams) {}

void ResultSink::warn_of(const std::string& text) {
  if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) { return; }
  warnings_.push_back(text);
  if (!invocation_.quiet) { warn(streams_, text); }
}

void ResultSink::finish(const std::vector<Scenario>& scenarios, bool interrupted) {
  Manifest manifest{.command_line = invocation_.command_line,
                    .scenarios = {},
                    .seeds = {},
                    .warnings = warnings_,
                    .interrupted = interrupted};
  for (const Scenario& scenario : scenarios) {
    manifest.scenarios.push_back({scenario.path, scenario.hash});
    for (const Case& each : scenario.cases) {
      if (each.seeds.empty()) { manifest.seeds.push_back(each.seed); }
      manifest.seeds.insert(manifest.seeds.end(), each.seeds.begin(), each.seeds.end());
    }
  }
  manifest.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  choice_.write("json", [&] { return results_json(rows_, rankings_, manifest); });
  choice_.write("csv", [&] { return results_csv(rows_); });
  if (interrupted) { complain(streams_, "interrupted: the results are incomplete"); }
}

}  // namespace athanor
