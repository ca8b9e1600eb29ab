#include "models/execution/simulate_packets.hpp"

#include "models/execution/executor.hpp"
#include "models/execution/packet_layout.hpp"
#include "models/execution/timeline_recorder.hpp"
#include "models/network/packet/packet_network.hpp"
#include "models/network/queue_pairs.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// Payload of data packets: as if all were full. No link may have carried more than its rate.
std::vector<LinkLoad> payload_loads(const Plan& plan, const PacketPlan& packets, const PacketNetwork& network,
                                    const TransportSpec& transport, Time time) {
  const Ratio payload{transport.payload.count(), (transport.payload + transport.header).count()};
  std::vector<LinkLoad> loads;
  for (std::uint32_t link = 0; link < plan.links.size(); ++link) {
    const Bytes carried = network.carried(link);
    require(transfer_time(carried, packets.links[link].rate) <= time,
            "link {} carried {} bytes in {} ps, more than its rate allows", plan.links[link].value, carried.count(),
            time.count());
    loads.push_back({plan.links[link], 1, scaled_down(carried, payload)});
  }
  return loads;
}

}  // namespace

Simulated simulate_packets(const Plan& plan, const Fabric& fabric, const Schedule& schedule, const CostModel& costs,
                           std::uint64_t seed, const SimulationOptions& options) {
  const PacketPlan packets = packet_plan(plan, fabric, options.packet);
  Simulator simulator;
  Executor executor(simulator, plan, schedule, costs.element_size(), costs.slots());
  QueuePairs pairs(executor, plan.connections.size(), plan.queue_pairs);
  PacketNetwork network(simulator, packets, options.packet.transport, seed, pairs);
  pairs.over(network);
  executor.connect(pairs);
  std::optional<TimelineRecorder> recorder;
  if (options.timeline != nullptr) {
    executor.record(recorder.emplace(*options.timeline, plan, schedule, options.timeline_offset));
  }
  executor.start(Time::zero());
  simulator.run();
  executor.require_finished();

  Simulated result;
  result.time = executor.finish_time();
  result.loads = payload_loads(plan, packets, network, options.packet.transport, simulator.now());
  result.lanes = result.all_lanes = static_cast<std::uint32_t>(plan.lanes.size());
  result.primitives = executor.primitives();
  result.events = simulator.events();
  result.packets = PacketCounters{network.switch_counters(), network.host_counters()};
  return result;
}

}  // namespace athanor
