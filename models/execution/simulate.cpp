#include "models/execution/simulate.hpp"

#include <algorithm>

#include "models/execution/critical_path.hpp"
#include "models/execution/executor.hpp"
#include "models/execution/rendezvous.hpp"
#include "models/execution/repetition.hpp"
#include "models/execution/timeline_recorder.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// Ranks are threads of one machine. What is timed is a repetition: caches hold what the same schedule left there.
Simulated simulate_on_processors(const MappedSchedule& plan, const Schedule& schedule, std::uint32_t processors,
                                 const CostModel& costs, const SimulationOptions& options) {
  PrimitiveWork work(schedule, *costs.threads(), processors, costs.element_size(), costs.slots());
  Simulated result;
  for (const bool timed : {false, true}) {
    Simulator simulator;
    Processors shared(simulator, *costs.threads(), work, processors);
    Executor executor(simulator, plan, schedule, costs.element_size(), costs.slots());
    executor.share(shared);
    std::optional<TimelineRecorder> recorder;
    if (timed && options.timeline != nullptr) {
      executor.record(recorder.emplace(*options.timeline, plan, schedule, options.timeline_offset));
    }
    executor.start(Time::zero());
    simulator.run();
    executor.require_finished();
    work.begin_again();
    result.time = executor.finish_time();
    result.primitives = executor.primitives();
    result.events = simulator.events();
  }
  result.lanes = result.all_lanes = static_cast<std::uint32_t>(plan.lanes.size());
  return result;
}

/// Ranks are thread blocks of GPUs, whose memory they share.
Simulated simulate_on_gpus(const MappedSchedule& plan, const Schedule& schedule, std::uint32_t gpus,
                           const CostModel& costs, const SimulationOptions& options) {
  Simulator simulator;
  Executor executor(simulator, plan, schedule, costs.element_size(), costs.slots());
  Blocks blocks(simulator, plan, schedule, *costs.gpus(), gpus, costs.element_size(), costs.slots(), executor);
  executor.run_on(blocks);
  std::optional<TimelineRecorder> recorder;
  if (options.timeline != nullptr) {
    executor.record(recorder.emplace(*options.timeline, plan, schedule, options.timeline_offset));
  }
  executor.start(costs.gpus()->launch);
  simulator.run();
  executor.require_finished();
  Simulated result;
  result.time = executor.finish_time();
  result.primitives = executor.primitives();
  result.events = simulator.events();
  result.lanes = result.all_lanes = static_cast<std::uint32_t>(plan.lanes.size());
  return result;
}

}  // namespace

Simulated simulate(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs,
                   const SimulationOptions& options) {
  MappedSchedule plan = lay_out(schedule, cluster, placement, costs);
  const auto all_lanes = static_cast<std::uint32_t>(plan.lanes.size());
  require((cluster.processors > 0) == (costs.threads() != nullptr), "shared memory and its costs go together");
  if (cluster.processors > 0) {
    const std::uint32_t workers = std::min(cluster.processors, schedule.roster().ranks);
    return simulate_on_processors(plan, schedule, workers, costs, options);
  }
  require((cluster.shared_gpus > 0) == (costs.gpus() != nullptr), "shared GPUs and their costs go together");
  if (cluster.shared_gpus > 0) { return simulate_on_gpus(plan, schedule, cluster.shared_gpus, costs, options); }
  assign_starts(plan, options.jobs);
  const bool packets = options.level == NetworkLevel::packet;  // queues tell equal agents apart, and loops
  if (options.classes && !packets) { plan = fold(plan, schedule); }
  Simulator simulator;
  Executor executor(simulator, plan, schedule, costs.element_size(), costs.slots());
  FabricNetwork network(simulator, plan.network, *cluster.fabric, options, placement.seed, executor);
  std::optional<Rendezvous> rendezvous;
  if (Rendezvous::is_needed(plan)) { rendezvous.emplace(simulator, plan, network.network()); }
  Network& top = rendezvous ? static_cast<Network&>(*rendezvous) : network.network();
  executor.connect(top);
  std::optional<Repetition> repetition;
  const bool watched = options.timeline != nullptr || options.listener != nullptr || options.path != nullptr;
  if (options.repeat_loops && !packets && !watched) { repetition.emplace(simulator, executor, top, plan); }
  std::optional<TimelineRecorder> recorder;
  if (options.timeline != nullptr) {
    executor.record(recorder.emplace(*options.timeline, plan, schedule, options.timeline_offset));
  } else if (options.listener != nullptr) {
    executor.record(*options.listener);
  }
  if (options.path != nullptr) {
    options.path->follow(plan.network, *cluster.fabric);
    executor.trace(*options.path);
  }
  executor.start(Time::zero());
  simulator.run();
  executor.require_finished();

  Simulated result;
  result.time = executor.finish_time();
  result.ends = ends(plan, executor, options.jobs);
  result.network = network.use(result.time);
  result.lanes = static_cast<std::uint32_t>(plan.lanes.size());
  result.all_lanes = all_lanes;
  result.primitives = executor.primitives();
  result.skipped_loops = repetition ? repetition->skipped_loops() : 0;
  result.events = simulator.events();
  return result;
}

}  // namespace athanor
