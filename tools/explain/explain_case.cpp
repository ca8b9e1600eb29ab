#include "tools/explain/explain_case.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "models/execution/choice.hpp"
#include "models/execution/execution_observer.hpp"
#include "models/experiments/collective.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/network/link_use.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/explain/explain_nccl.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// The time of one algorithm with one protocol, or why it cannot run. What was chosen has been simulated.
ExplainedCandidate simulated(const RunRequest& request, const Explanation& explanation, const Algorithm& algorithm,
                             const std::string& protocol) {
  ExplainedCandidate candidate{algorithm.name, protocol, {}, {}, "", false};
  if (algorithm.name == explanation.algorithm && protocol == explanation.protocol) {
    candidate.simulated = explanation.time;
    return candidate;
  }
  RunRequest alone = request;
  alone.algorithms = {&algorithm};
  alone.overrides.protocol = protocol;
  try {
    const RunResult result = choose_fastest(alone).result;
    candidate.obstacle = result.fell_back;
    if (result.fell_back.empty()) { candidate.simulated = result.time; }
  } catch (const SimulationError& error) { candidate.obstacle = error.what(); }
  return candidate;
}

/// Of the catalog: every algorithm with every protocol that takes it.
std::vector<ExplainedCandidate> catalog_candidates(const RunRequest& request, const Explanation& explanation) {
  std::vector<ExplainedCandidate> result;
  for (const Algorithm* algorithm : request.algorithms) {
    const Candidates candidates = candidates_of(request, *algorithm);
    if (candidates.fitting.empty()) { result.push_back({algorithm->name, "", {}, {}, candidates.reason, false}); }
    std::set<std::string> protocols;
    for (const Candidate& each : candidates.fitting) {
      if (!protocols.insert(each.protocol().name).second) { continue; }
      result.push_back(simulated(request, explanation, *algorithm, each.protocol().name));
    }
  }
  return result;
}

/// All of them, of which the explanation's is chosen.
std::vector<ExplainedCandidate> candidates_for(const RunRequest& request, const Explanation& explanation) {
  if (request.nccl && nccl_call(nccl_request(request))) {
    return nccl_candidates(request, explanation, [&](const Algorithm& algorithm, const std::string& protocol) {
      return simulated(request, explanation, algorithm, protocol);
    });
  }
  std::vector<ExplainedCandidate> candidates = catalog_candidates(request, explanation);
  for (ExplainedCandidate& each : candidates) {
    each.chosen = each.algorithm == explanation.algorithm && each.protocol == explanation.protocol;
  }
  return candidates;
}

/// Those that can run by their time, then the others, as they came.
void sort_by_time(std::vector<ExplainedCandidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    if (a.simulated.has_value() != b.simulated.has_value()) { return a.simulated.has_value(); }
    return a.simulated && *a.simulated < *b.simulated;
  });
}

std::string counted(std::uint32_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::vector<std::string> work_of(const RunRequest& request, const Candidate& candidate) {
  const Layout& layout = candidate.layout();
  const Elements whole = candidate.collective().count;
  const Bytes chunk = request.element_size * std::min(layout.chunk, whole).count();
  const std::string cut = layout.chunk >= whole ? "the whole part as one chunk" : "chunks of " + to_string(chunk);
  std::vector<std::string> work{fmt::format("{}, {} in {}, {} of a connection under way at most",
                                            counted(layout.channels, "channel"), cut, counted(layout.slices, "slice"),
                                            counted(candidate.protocol().slots, "message"))};
  if (layout.group > 0 && layout.rotation > 0 && !layout.orders) {
    work.push_back(
        fmt::format("channel c leaves a node of {} ranks from its rank c x {}", layout.group, layout.rotation));
  }
  return work;
}

/// Listens to the candidate once more, and tells its critical path, its phases and what was sent when. Nothing where
/// nobody could listen.
void explain_course(const Candidate& candidate, SimulationOptions options, Explanation& explanation) {
  constexpr std::size_t kParts = 360;
  PipelinePhases listener;
  options.timeline = nullptr;
  CriticalPath path;
  options.observers = {&listener, &path};
  const RunResult result = candidate.run(options);
  if (path.shares().total() == result.simulated.time) { explanation.path = path.shares(); }
  if (listener.draining() == Time::zero()) { return; }
  ExplainedPhases phases;
  phases.launch = candidate.launch();
  phases.fill = listener.filled();
  phases.steady = listener.draining() - listener.filled();
  phases.drain = result.simulated.time - listener.draining();
  phases.host = result.time - result.simulated.time - phases.launch;
  explanation.phases = phases;
  explanation.sending = listener.sending().shares(kParts, result.simulated.time);
}

std::string collective_text(const CollectiveSetup& setup, Bytes size) {
  const std::string kind(name(setup.kind));
  const std::string what = reduces(setup.kind) ? fmt::format(" {}", name(setup.reduction)) : "";
  return fmt::format("{} of {} by {} ranks, {}{}", kind, to_string(size), setup.ranks, name(setup.type), what);
}

/// What the links did: by class, of the busiest one, and of what kinds those are that are busy at least half as long.
void take_loads(const Fabric& fabric, const RunResult& result, Explanation& explanation) {
  explanation.links = link_use(fabric, result.simulated.network.loads, observed(result));
  if (explanation.links.empty()) { return; }
  const double most = explanation.links.front().most;
  explanation.busiest_link = 100 * most;
  for (const LinkLoad& load : result.simulated.network.loads) {
    const bool limits = 2 * utilisation(load.carried, fabric.link(load.link).usable, observed(result)) >= most;
    if (most > 0 && limits) { explanation.limiting.insert(fabric.link(load.link).kind); }
  }
}

void take_result(const Fabric& fabric, const RunResult& result, Explanation& explanation) {
  explanation.algorithm = result.algorithm;
  explanation.protocol = result.protocol;
  explanation.time = result.time;
  explanation.limited_by = result.limited_by;
  take_loads(fabric, result, explanation);
  explanation.bound = result.bound.time;
  explanation.bound_by = result.bound.limited_by;
  for (const std::string& note : result.notes) {
    if (!note.starts_with("does not fit: ")) { explanation.notes.push_back(note); }
  }
  if (result.extrapolated) {
    explanation.notes.emplace_back("extrapolated: outside of what the profile was fitted on");
  }
}

/// One call of the collective, whatever follows it: it is what has a critical path.
RunRequest one_call(const CollectiveSetup& setup, const Platform& platform, Bytes size,
                    const SimulationOptions& options) {
  RunRequest request = setup.request(platform, size, options);
  request.calls = 1;
  return request;
}

}  // namespace

Explanation explain(const Scenario& scenario, const Case& scenario_case, Bytes size, const RunOptions& run_options) {
  const CollectiveSetup& setup = scenario_case.as<CollectiveExperiment>()->setup();
  const Platform& platform = scenario_case.platform;
  SimulationOptions options = simulation_options(platform, run_options);
  options.timeline = nullptr;
  const RunRequest request = one_call(setup, platform, size, options);
  const Choice choice = choose_fastest(request);
  Explanation explanation;
  explanation.heading = heading_of(scenario, scenario_case);
  explanation.collective = collective_text(setup, size);
  take_result(*platform.cluster->fabric, complete(request, choice), explanation);
  Record expected;
  put_interval(setup, platform, size, explanation.time, explanation.bound, expected);
  explanation.interval = explained_interval(expected, kTimeLow, kTimeHigh, &words_of_knowledge);
  explanation.candidates = candidates_for(request, explanation);
  sort_by_time(explanation.candidates);
  explanation.work = work_of(request, choice.candidate);
  if (request.nccl) { explain_nccl(request, explanation); }
  explain_course(choice.candidate, options, explanation);
  if (setup.calls > 1) {
    explanation.notes.push_back(
        fmt::format("one call by itself; what {} back to back take is what `athanor run` says", setup.calls));
  }
  if (run_options.timeline != nullptr) {
    const RunRequest drawn = one_call(setup, platform, size, simulation_options(platform, run_options));
    choose_fastest(drawn).candidate.draw();
  }
  return explanation;
}

}  // namespace athanor
