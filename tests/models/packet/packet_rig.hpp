#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/network/packet/packet_network.hpp"
#include "tests/models/network_rig.hpp"

namespace athanor::test {

/// A packet plan by hand: devices, cables of two links, flows along cables.
class PacketFabric {
 public:
  PacketTopology plan;

  std::uint32_t host() {
    plan.devices.push_back({true, 0});
    return static_cast<std::uint32_t>(plan.devices.size() - 1);
  }
  std::uint32_t switch_of(const SwitchSpec& spec) {
    plan.switches.push_back(spec);
    plan.devices.push_back({false, static_cast<std::uint32_t>(plan.switches.size() - 1)});
    return static_cast<std::uint32_t>(plan.devices.size() - 1);
  }
  /// The link from a to b; the one back is the next.
  std::uint32_t cable(std::uint32_t a, std::uint32_t b, Bandwidth rate, Time latency) {
    const auto link = static_cast<std::uint32_t>(plan.links.size());
    plan.links.push_back({a, b, link + 1, rate, latency});
    plan.links.push_back({b, a, link, rate, latency});
    return link;
  }
  std::uint32_t flow(const std::vector<std::uint32_t>& path, Time software = Time::zero(),
                     Bytes grain = Bytes::zero()) {
    PacketTopology::Flow flow{static_cast<std::uint32_t>(plan.hops.size()),
                              static_cast<std::uint32_t>(path.size()),
                              0,
                              static_cast<std::uint32_t>(path.size()),
                              1,
                              Bandwidth::max(),
                              software,
                              grain};
    plan.hops.insert(plan.hops.end(), path.begin(), path.end());
    flow.first_hop_back = static_cast<std::uint32_t>(plan.hops.size());
    for (auto link = path.rbegin(); link != path.rend(); ++link) { plan.hops.push_back(plan.links[*link].reverse); }
    plan.flows.push_back(flow);
    return static_cast<std::uint32_t>(plan.flows.size() - 1);
  }
};

/// `senders` hosts and one receiver on one switch; flow i goes from sender i to the receiver.
inline PacketFabric incast(std::uint32_t senders, const SwitchSpec& spec, Bandwidth rate, Time latency) {
  PacketFabric fabric;
  const std::uint32_t middle = fabric.switch_of(spec);
  const std::uint32_t down = fabric.cable(middle, fabric.host(), rate, latency);
  for (std::uint32_t s = 0; s < senders; ++s) {
    fabric.flow({fabric.cable(fabric.host(), middle, rate, latency), down});
  }
  return fabric;
}

/// A packet network on a simulator of its own, with a log.
struct PacketRig {
  PacketRig(const PacketTopology& plan, const TransportSpec& transport, Time most_window = Time::max())
      : script(simulator),
        log(simulator, plan.flows.size()),
        network(simulator, plan, transport, 1, log, most_window) {}
  void move_at(Time when, std::uint32_t flow, Bytes size) {
    script.at(when, [this, flow, size] { network.move(ConnectionId{flow}, size); });
  }
  const Log::Times& of(std::uint32_t flow) const { return log.of[flow]; }
  Time last_delivery() const {
    Time last;
    for (const Log::Times& times : log.of) {
      for (const Time when : times.delivered) { last = std::max(last, when); }
    }
    return last;
  }

  Simulator simulator;
  Script script;
  Log log;
  PacketNetwork network;
};

}  // namespace athanor::test
