#include "tools/command_line/plot/report_pictures.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "algorithms/catalog.hpp"
#include "models/execution/by_packets.hpp"
#include "models/execution/choice.hpp"
#include "sim/error.hpp"
#include "sim/timeline.hpp"
#include "tools/command_line/plot/plot_schedule.hpp"
#include "tools/command_line/plot/topology_use.hpp"
#include "tools/command_line/run/run_workload.hpp"
#include "tools/command_line/run/simulate_case.hpp"

namespace athanor {

namespace {

using Json = nlohmann::ordered_json;

/// More would make pages large and slow.
constexpr std::size_t kMostCases = 6;
constexpr std::size_t kMostEndpoints = 64;
constexpr std::uint32_t kMostRanks = 16;
constexpr std::uint32_t kDrawnWorkers = 16;
constexpr std::uintmax_t kMostTimelineBytes = 20'000'000;

bool is_collective(const Case& each) {
  return !each.traffic && !each.parameter_server && !each.training && !each.trace && !each.jobs && !each.exchange &&
         each.kind != CollectiveKind::barrier;
}

/// The messages of the candidate's algorithm in its simplest form: one channel, one loop. Nothing where that is none.
std::optional<Json> simplest_schedule(const Candidate& candidate) {
  ScheduleRequest request{&candidate.algorithm(), candidate.collective(), candidate.layout()};
  request.layout.channels = request.layout.slices = request.layout.parts = 1;
  request.layout.chunk = Elements::max();
  if (refusal_with_alternatives(*request.algorithm, request.collective, request.layout)) { return {}; }
  request.collective.count = request.algorithm->granule(request.collective, request.layout);
  return schedule_json(request);
}

Json collective_pictures(const Case& scenario_case, const SimulationOptions& options) {
  Json pictures = Json::object();
  const Bytes size = scenario_case.sizes.back();
  const RunRequest request = scenario_case.request(size, options);
  if (uses_aggregators(request)) { return pictures; }
  const Choice choice = choose_fastest(request);
  if (scenario_case.cluster->endpoints.size() <= kMostEndpoints) {
    if (auto use = topology_use_json(scenario_case, size, choice, options)) { pictures["use"] = std::move(*use); }
  }
  if (scenario_case.ranks <= kMostRanks) {
    if (auto schedule = simplest_schedule(choice.candidate)) { pictures["schedule"] = std::move(*schedule); }
  }
  return pictures;
}

/// A file with the step's timeline, unless that is too large to be drawn.
std::optional<TemporaryFile> timeline_of(const Scenario& scenario, const Case& scenario_case,
                                         const SimulationOptions& options) {
  TemporaryFile file(".json");
  Timeline timeline(file.path());
  simulate_training(scenario, scenario_case, options,
                    {.critical_path = false, .timeline = &timeline, .drawn_workers = kDrawnWorkers});
  timeline.close();
  if (std::filesystem::file_size(file.path()) > kMostTimelineBytes) { return {}; }
  return file;
}

}  // namespace

ReportPictures report_pictures(const Scenario& scenario, const Invocation& invocation) {
  ReportPictures pictures;
  for (std::size_t i = 0; i < std::min(scenario.cases.size(), kMostCases); ++i) {
    const Case& each = scenario.cases[i];
    const SimulationOptions options = simulation_options_of(each, invocation, nullptr);
    try {
      if (is_collective(each)) { pictures.by_case[each.name] = collective_pictures(each, options); }
      if (!each.training) { continue; }
      if (auto timeline = timeline_of(scenario, each, options)) {
        pictures.by_case[each.name] = {{"timeline", timeline->path()}};
        pictures.files.push_back(std::move(*timeline));
      } else {
        pictures.by_case[each.name] = {
            {"left_out",
             "The timeline of this step is too long to be drawn here: athanor run --trace FILE writes it."}};
      }
    } catch (const SimulationError&) { continue; }  // its results are in the report, or why there are none
  }
  return pictures;
}

}  // namespace athanor
