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

  DeviceIndex host() { return plan.devices.push_back({true, 0}); }
  DeviceIndex switch_of(const SwitchSpec& spec) {
    plan.switches.push_back(spec);
    return plan.devices.push_back({false, static_cast<std::uint32_t>(plan.switches.size() - 1)});
  }
  /// The link from a to b; the one back is the next.
  LinkIndex cable(DeviceIndex a, DeviceIndex b, Bandwidth rate, Time latency) {
    const LinkIndex link = plan.links.next();
    plan.links.push_back({a, b, LinkIndex{link.value + 1}, rate, latency});
    plan.links.push_back({b, a, link, rate, latency});
    return link;
  }
  LinkIndex back(LinkIndex link) const { return plan.links[link].reverse; }
  ConnectionId flow(const std::vector<LinkIndex>& path, Time software = Time::zero(), Bytes grain = Bytes::zero()) {
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
    for (auto link = path.rbegin(); link != path.rend(); ++link) { plan.hops.push_back(back(*link)); }
    return plan.flows.push_back(flow);
  }
};

/// `senders` hosts and one receiver on one switch; flow i goes from sender i to the receiver.
inline PacketFabric incast(std::uint32_t senders, const SwitchSpec& spec, Bandwidth rate, Time latency) {
  PacketFabric fabric;
  const DeviceIndex middle = fabric.switch_of(spec);
  const LinkIndex down = fabric.cable(middle, fabric.host(), rate, latency);
  for (std::uint32_t s = 0; s < senders; ++s) {
    fabric.flow({fabric.cable(fabric.host(), middle, rate, latency), down});
  }
  return fabric;
}

/// A packet network on a simulator of its own, with a log.
struct PacketRig {
  PacketRig(const PacketTopology& plan, const TransportSpec& transport, PacketNetwork::Pace pace = {Time::max(), 1})
      : script(simulator), log(simulator, plan.flows.size()), network(simulator, plan, transport, 1, log, pace) {}
  void move_at(Time when, ConnectionId flow, Bytes size) {
    script.at(when, [this, flow, size] { network.move(flow, size); });
  }
  void move_at(Time when, std::uint32_t flow, Bytes size) { move_at(when, ConnectionId{flow}, size); }
  const Log::Times& of(std::uint32_t flow) const { return log.of[flow]; }
  const Log::Times& of(ConnectionId flow) const { return log.of[flow.value]; }
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
