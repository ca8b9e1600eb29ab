#pragma once

#include <tuple>

#include "models/network/packet/congestion/control.hpp"
#include "tests/models/packet/packet_rig.hpp"

namespace athanor::test {

using namespace athanor::literals;

constexpr std::uint32_t kFlows = 12;

inline SwitchSpec random_switch(Random& random) {
  SwitchSpec spec;
  spec.cut_through = random.between(0, 1) == 1;
  switch (random.between(0, 3)) {
    case 0:
      spec.flow_control = FlowControl::pfc;
      spec.pause_above = Bytes{random.between(10'000, 40'000)};
      spec.resume_below = spec.pause_above - 5_KiB;
      break;
    case 1:
      spec.flow_control = FlowControl::credits;
      spec.lane_buffer = Bytes{random.between(10'000, 40'000)};
      break;
    case 2:
      spec.queue = Bytes{random.between(10'000, 40'000)};
      spec.trims = true;
      break;
    default: spec.buffer = Bytes{random.between(40'000, 100'000)};
  }
  if (random.between(0, 1) == 1) { spec.marking = {8_KiB, 40_KiB, {1, 2}}; }
  spec.load_balancing = static_cast<LoadBalancing>(random.between(0, 2));
  spec.flowlet_gap = Time{random.between(1, 20'000'000)};
  return spec;
}

/// Leaves with hosts, each joined to all spines by cables of all kinds; flows from leaf to leaf over any of the spines.
inline PacketFabric random_fabric(Random& random) {
  PacketFabric fabric;
  const SwitchSpec spec = random_switch(random);
  const auto leaves = static_cast<std::uint32_t>(random.between(2, 3));
  const auto spines = static_cast<std::uint32_t>(random.between(1, 3));
  const auto hosts = static_cast<std::uint32_t>(random.between(1, 4));
  const auto cable = [&](DeviceIndex below, DeviceIndex above) {
    return fabric.cable(below, above, Bandwidth{random.between(4, 12) * 1'000'000'000},
                        Time{random.between(300, 900) * 1'000});
  };
  std::vector<DeviceIndex> above;
  for (std::uint32_t s = 0; s < spines; ++s) { above.push_back(fabric.switch_of(spec)); }
  std::vector<std::vector<LinkIndex>> up(leaves);
  std::vector<std::vector<LinkIndex>> in(leaves);
  for (std::uint32_t l = 0; l < leaves; ++l) {
    const DeviceIndex leaf = fabric.switch_of(spec);
    for (std::uint32_t h = 0; h < hosts; ++h) { in[l].push_back(cable(fabric.host(), leaf)); }
    for (const DeviceIndex spine : above) { up[l].push_back(cable(leaf, spine)); }
  }
  for (std::uint32_t f = 0; f < kFlows; ++f) {
    const auto from = static_cast<std::size_t>(random.between(0, leaves - 1));
    const std::size_t to = (from + static_cast<std::size_t>(random.between(1, leaves - 1))) % leaves;
    const LinkIndex first = in[from][static_cast<std::size_t>(random.between(0, hosts - 1))];
    const LinkIndex last = fabric.back(in[to][static_cast<std::size_t>(random.between(0, hosts - 1))]);
    PacketTopology::Flow flow;
    flow.first_hop = static_cast<std::uint32_t>(fabric.plan.hops.size());
    flow.hops = flow.hops_back = 4;
    flow.paths = spines;
    flow.software = Time{random.between(0, 1'200) * 1'000 * random.between(0, 1)};
    flow.grain = Bytes{random.between(0, 1) * random.between(1, 60'000)};
    for (std::uint32_t s = 0; s < spines; ++s) {
      for (const LinkIndex hop : {first, up[from][s], fabric.back(up[to][s]), last}) {
        fabric.plan.hops.push_back(hop);
      }
    }
    flow.first_hop_back = static_cast<std::uint32_t>(fabric.plan.hops.size());
    for (std::uint32_t hop = 4; hop-- > 0;) {
      fabric.plan.hops.push_back(fabric.back(fabric.plan.hops[flow.first_hop + hop]));
    }
    fabric.plan.flows.push_back(flow);
  }
  return fabric;
}

inline TransportSpec random_transport(Random& random, const ControlEntry& control) {
  TransportSpec transport;
  transport.control = congestion_control(control.words.name);
  // What hpcc reads of a packet that was sent twice is what was written last.
  const bool selective = control.words.selective_only || control.words.name == "hpcc" || random.between(0, 2) > 0;
  if (selective) { transport.recovery = TransportSpec::Recovery::selective; }
  transport.any_order = selective;
  transport.spray = selective && random.between(0, 1) == 1;
  transport.timeout = 150_us;
  return transport;
}

/// Whatever can be seen from outside.
struct Outcome {
  std::vector<Log::Times> log;
  std::vector<std::int64_t> carried;
  std::vector<std::uint64_t> counted;
  std::vector<std::tuple<Time, char, std::uint32_t>> calls;  ///< of listeners, in order
  Time end;
  bool operator==(const Outcome&) const = default;
};

inline Outcome outcome(std::uint64_t seed, const ControlEntry& control, PacketNetwork::Pace pace) {
  Random random(seed);
  const PacketFabric fabric = random_fabric(random);
  PacketRig rig(fabric.plan, random_transport(random, control), pace);
  for (std::uint32_t k = 0; k < 40; ++k) {
    rig.move_at(Time{random.between(0, 100'000'000)}, static_cast<std::uint32_t>(random.between(0, kFlows - 1)),
                Bytes{random.between(0, 100'000)});
  }
  std::uint32_t answers = 60;  // what is delivered is answered by another message at once, for a while
  rig.log.on_delivered = [&](std::uint32_t flow) {
    if (answers == 0) { return; }
    --answers;
    rig.network.move(ConnectionId{(flow + answers) % kFlows}, Bytes{std::int64_t{1'000} * answers});
  };
  rig.simulator.run();
  Outcome outcome{rig.log.of, {}, {}, rig.log.calls, rig.simulator.now()};
  for (const LinkIndex link : fabric.plan.links.ids()) { outcome.carried.push_back(rig.network.carried(link).count()); }
  const SwitchCounters switches = rig.network.switch_counters();
  const HostCounters hosts = rig.network.host_counters();
  outcome.counted = {switches.forwarded, switches.dropped, switches.trimmed,
                     switches.marked,    switches.pauses,  static_cast<std::uint64_t>(switches.longest_queue),
                     hosts.data,         hosts.repeated,   hosts.replies,
                     hosts.notices,      hosts.pulls,      hosts.timeouts};
  return outcome;
}

}  // namespace athanor::test
