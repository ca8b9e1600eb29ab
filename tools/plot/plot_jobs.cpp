#include <filesystem>

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/plot/drawing.hpp"
#include "tools/plot/plot_options.hpp"
#include "tools/plot/workload_picture.hpp"

namespace athanor {

namespace {

/// What a scenario's workloads do. Throws UsageError where it has none.
JsonValue workloads_of(const PlotOptions& options, const std::string& path) {
  const Scenario scenario = read_scenario(path, options.common.library, changes_of(options.scenario));
  JsonValue runs = JsonValue::list();
  for (const Case& each : scenario.cases) {
    JsonValue run = workload_picture(each, run_options_of(options.scenario));
    if (!run.is_null()) { runs.push_back(std::move(run)); }
  }
  if (runs.empty()) {
    throw UsageError(fmt::format("plot jobs: {} has no \"workload\"; `athanor plot topology` draws its cluster", path));
  }
  return {{"runs", std::move(runs)}};
}

}  // namespace

ExitCode plot_jobs(const PlotOptions& options, const Streams& streams) {
  if (options.common.arguments.size() < 2) {
    throw UsageError("plot: which jobs? Write the file of a scenario, or of `athanor run --per-job FILE`, after jobs");
  }
  const std::filesystem::path path = options.common.arguments[1];
  if (!std::filesystem::exists(path)) { throw FileError(fmt::format("{}: no such file", path.string())); }
  const std::string picture = picture_path(options.output, options.folder, "jobs-" + path.stem().string());
  std::vector<std::string> words{"--output", picture};
  if (options.figure) { words.insert(words.end(), {"--figure", *options.figure}); }
  if (options.title) { words.insert(words.end(), {"--title", *options.title}); }
  const Library& library = options.common.library;
  if (path.extension() == ".json") {
    words.insert(words.end(), {"--name", path.string()});
    draw_data(library, streams, "plot_jobs.py", workloads_of(options, path.string()), words, path.string());
    return ExitCode::ok;
  }
  for (const std::string& name : options.scenario.cases) { words.insert(words.end(), {"--case", name}); }
  if (!options.scenario.settings.empty()) {
    throw UsageError("plot jobs: --set changes a scenario, and a list of jobs is none; name the scenario");
  }
  draw_file(library, streams, "plot_jobs.py", path.string(), words, path.string());
  return ExitCode::ok;
}

}  // namespace athanor
