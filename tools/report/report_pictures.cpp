#include "tools/report/report_pictures.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "algorithms/catalog.hpp"
#include "models/execution/by_packets.hpp"
#include "models/execution/choice.hpp"
#include "models/experiments/training.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/timeline.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/plot/plot_schedule.hpp"
#include "tools/plot/topology_use.hpp"
#include "tools/plot/workload_picture.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// More would make pages large and slow.
constexpr std::size_t kMostCases = 6;
constexpr std::size_t kMostEndpoints = 64;
constexpr std::uint32_t kMostRanks = 16;
constexpr std::uint32_t kDrawnWorkers = 16;
constexpr std::uintmax_t kMostTimelineBytes = 20'000'000;

/// The messages of the candidate's algorithm in its simplest form: one channel, one loop. Nothing where that is none.
std::optional<Json> simplest_schedule(const Candidate& candidate) {
  ScheduleRequest request{&candidate.algorithm(), candidate.collective(), candidate.layout()};
  request.layout.channels = request.layout.slices = 1;
  if (auto* rounds = std::get_if<PeerRoundShape>(&request.layout.shape)) { rounds->parts = 1; }
  request.layout.chunk = Elements::max();
  if (refusal_with_alternatives(*request.algorithm, request.collective, request.layout)) { return {}; }
  request.collective.count = request.algorithm->granule(request.collective, request.layout);
  return schedule_json(request);
}

Json collective_pictures(const Platform& platform, const CollectiveSetup& setup, const SimulationOptions& options) {
  Json pictures = Json::object();
  if (setup.exchange || setup.kind == CollectiveKind::barrier) { return pictures; }
  const Bytes size = setup.sizes.back();
  const RunRequest request = setup.request(platform, size, options);
  if (uses_aggregators(request)) { return pictures; }
  const Choice choice = choose_fastest(request);
  if (platform.cluster->endpoints.size() <= kMostEndpoints) {
    if (auto use = topology_use_json(*platform.cluster, setup, size, choice, options)) {
      pictures["use"] = std::move(*use);
    }
  }
  if (setup.ranks <= kMostRanks) {
    if (auto schedule = simplest_schedule(choice.candidate)) { pictures["schedule"] = std::move(*schedule); }
  }
  return pictures;
}

/// A file with the step's timeline, unless that is too large to be drawn.
std::optional<TemporaryFile> timeline_of(const Platform& platform, const TrainingExperiment& training,
                                         const RunOptions& options) {
  TemporaryFile file(".json");
  Timeline timeline(file.path());
  CollectiveTimer timer(training.pricing(platform, options));
  training.simulate(
      platform, timer,
      {.critical_path = false, .timeline = &timeline, .drawn_workers = kDrawnWorkers, .stop = options.stop});
  timeline.close();
  if (std::filesystem::file_size(file.path()) > kMostTimelineBytes) { return {}; }
  return file;
}

/// What can be drawn of one case; null: nothing.
Json pictures_of(const Case& scenario_case, const RunOptions& options, std::vector<TemporaryFile>& files) {
  const Platform& platform = scenario_case.platform;
  if (const auto* collective = scenario_case.as<CollectiveExperiment>()) {
    return collective_pictures(platform, collective->setup(), simulation_options(platform, options));
  }
  const auto* training = scenario_case.as<TrainingExperiment>();
  if (training == nullptr) {
    Json jobs = workload_picture(scenario_case, options);
    return jobs.is_null() ? Json() : Json{{"jobs", std::move(jobs)}};
  }
  if (auto timeline = timeline_of(platform, *training, options)) {
    files.push_back(std::move(*timeline));
    return {{"timeline", files.back().path()}};
  }
  return {{"left_out", "The timeline of this step is too long to be drawn here: athanor run --trace FILE writes it."}};
}

}  // namespace

ReportPictures report_pictures(const Scenario& scenario, const RunOptions& options) {
  ReportPictures pictures;
  for (std::size_t i = 0; i < std::min(scenario.cases.size(), kMostCases); ++i) {
    const Case& each = scenario.cases[i];
    try {
      Json found = pictures_of(each, options, pictures.files);
      if (!found.is_null()) { pictures.by_case[each.name] = std::move(found); }
    } catch (const SimulationError&) { continue; }  // its results are in the report, or why there are none
  }
  return pictures;
}

}  // namespace athanor
