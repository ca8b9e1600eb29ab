#include "models/execution/simulate.hpp"

#include "models/execution/executor.hpp"
#include "models/execution/network_substrate.hpp"
#include "models/execution/repetition.hpp"
#include "models/execution/timeline_recorder.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

Simulated simulate(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs,
                   const SimulationOptions& options) {
  MappedSchedule mapped = lay_out(schedule, cluster, placement, costs);
  const auto all_lanes = static_cast<std::uint32_t>(mapped.lanes.size());
  assign_starts(mapped, options.jobs);
  const bool packets = options.level == NetworkLevel::packet;  // queues tell equal agents apart, and loops
  if (options.classes && !packets) { mapped = fold(mapped, schedule); }
  Simulator simulator;
  NetworkSubstrate network(simulator, mapped, *cluster.fabric, options, placement.seed);
  Executor executor(simulator, mapped, schedule, network, costs.element_size(), costs.slots());
  std::optional<TimelineRecorder> recorder;
  if (options.timeline != nullptr) { executor.observe(recorder.emplace(*options.timeline, options.timeline_offset)); }
  for (ExecutionObserver* each : options.observers) {
    executor.observe(*each);
    network.observe(*each);
  }
  std::optional<Repetition> repetition;
  const bool watched = options.timeline != nullptr || !options.observers.empty();
  if (options.repeat_loops && !packets && !watched) { repetition.emplace(simulator, executor, network, mapped); }
  executor.start(Time::zero());
  simulator.run();
  executor.require_finished();

  Simulated result;
  result.time = executor.finish_time();
  result.ends = ends(mapped, executor, options.jobs);
  result.network = network.use(result.time);
  result.lanes = static_cast<std::uint32_t>(mapped.lanes.size());
  result.all_lanes = all_lanes;
  result.primitives = executor.primitives();
  result.skipped_loops = repetition ? repetition->skipped_loops() : 0;
  result.events = simulator.events();
  return result;
}

}  // namespace athanor
