#include "models/execution/simulate.hpp"

#include <algorithm>
#include <memory>

#include "models/execution/executor.hpp"
#include "models/execution/repetition.hpp"
#include "models/execution/simulate_packets.hpp"
#include "models/execution/timeline_recorder.hpp"
#include "models/network/flow_network.hpp"
#include "models/network/ideal_network.hpp"
#include "models/network/queue_pairs.hpp"
#include "sim/check.hpp"

namespace athanor {

std::string_view name(NetworkLevel level) {
  switch (level) {
    case NetworkLevel::ideal: return "ideal";
    case NetworkLevel::flow: return "flow";
    case NetworkLevel::packet: return "packet";
  }
  return "";
}

namespace {

std::unique_ptr<Network> make_network(NetworkLevel level, Simulator& simulator, const NetworkPlan& plan,
                                      MoveListener& listener) {
  switch (level) {
    case NetworkLevel::ideal: return std::make_unique<IdealNetwork>(simulator, plan, listener);
    case NetworkLevel::flow: return std::make_unique<FlowNetwork>(simulator, plan, listener);
    case NetworkLevel::packet: break;  // needs the fabric: see simulate_packets
  }
  return nullptr;
}

std::vector<LinkLoad> link_loads(const Plan& plan, const Network& network, NetworkLevel level, Time time) {
  std::vector<LinkLoad> loads;
  for (std::uint32_t link = 0; link < plan.links.size(); ++link) {
    const Bytes carried = network.carried(link);
    require(level != NetworkLevel::flow || transfer_time(carried, plan.network.links[link].rate) <= time,
            "link {} carried {} bytes in {} ps, more than its rate allows", plan.links[link].value, carried.count(),
            time.count());
    loads.push_back({plan.links[link], plan.link_members[link], carried});
  }
  return loads;
}

/// Ranks are threads of one machine. What is timed is a repetition: caches hold what the same schedule left there.
Simulated simulate_on_processors(const Plan& plan, const Schedule& schedule, std::uint32_t processors,
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

}  // namespace

Simulated simulate(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs,
                   const SimulationOptions& options) {
  Plan plan = lay_out(schedule, cluster, placement, costs);
  const auto all_lanes = static_cast<std::uint32_t>(plan.lanes.size());
  require((cluster.processors > 0) == (costs.threads() != nullptr), "shared memory and its costs go together");
  if (cluster.processors > 0) {
    const std::uint32_t workers = std::min(cluster.processors, schedule.roster().ranks);
    return simulate_on_processors(plan, schedule, workers, costs, options);
  }
  if (options.level == NetworkLevel::packet) {
    return simulate_packets(plan, *cluster.fabric, schedule, costs, placement.seed, options);
  }
  if (options.classes) { plan = fold(plan, schedule); }
  Simulator simulator;
  Executor executor(simulator, plan, schedule, costs.element_size(), costs.slots());
  QueuePairs pairs(executor, plan.connections.size(), plan.queue_pairs);
  const bool paired = plan.queue_pairs > 1;
  MoveListener& listener = paired ? static_cast<MoveListener&>(pairs) : executor;
  const std::unique_ptr<Network> beneath = make_network(options.level, simulator, plan.network, listener);
  pairs.over(*beneath);
  Network* const network = paired ? &pairs : beneath.get();
  executor.connect(*network);
  std::optional<Repetition> repetition;
  if (options.repeat_loops && options.timeline == nullptr) { repetition.emplace(simulator, executor, *network, plan); }
  std::optional<TimelineRecorder> recorder;
  if (options.timeline != nullptr) {
    executor.record(recorder.emplace(*options.timeline, plan, schedule, options.timeline_offset));
  }
  executor.start(Time::zero());
  simulator.run();
  executor.require_finished();

  Simulated result;
  result.time = executor.finish_time();
  result.loads = link_loads(plan, *network, options.level, result.time);
  result.lanes = static_cast<std::uint32_t>(plan.lanes.size());
  result.all_lanes = all_lanes;
  result.primitives = executor.primitives();
  result.skipped_loops = repetition ? repetition->skipped_loops() : 0;
  result.events = simulator.events();
  return result;
}

}  // namespace athanor
