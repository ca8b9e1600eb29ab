#include "models/execution/plan_network.hpp"

#include <algorithm>

#include "models/network/flow_network.hpp"
#include "models/network/ideal_network.hpp"
#include "models/network/packet/packet_network.hpp"
#include "sim/check.hpp"

namespace athanor {

PlanNetwork::PlanNetwork(Simulator& simulator, const Plan& plan, const Fabric& fabric, const SimulationOptions& options,
                         std::uint64_t seed, MoveListener& listener)
    : plan_(plan),
      fabric_(fabric),
      options_(options),
      pairs_(listener, plan.network.connections.size() / plan.queue_pairs, plan.queue_pairs) {
  MoveListener& above = is_paired() ? static_cast<MoveListener&>(pairs_) : listener;
  switch (options.level) {
    case NetworkLevel::ideal: beneath_ = std::make_unique<IdealNetwork>(simulator, plan.network, above); break;
    case NetworkLevel::flow: beneath_ = std::make_unique<FlowNetwork>(simulator, plan.network, above); break;
    case NetworkLevel::packet:
      layout_ = packet_plan(plan, fabric, options.packet);
      auto packets = std::make_unique<PacketNetwork>(simulator, layout_->plan, options.packet.transport, seed, above);
      if (options.count_ports) { packets->count_ports(); }
      packets->name_links([this](std::uint32_t link) { return fabric_.name(layout_->links[link]); });
      packets_ = packets.get();
      beneath_ = std::move(packets);
      break;
  }
  pairs_.over(*beneath_);
}

PlanNetwork::~PlanNetwork() = default;

Network& PlanNetwork::network() { return is_paired() ? pairs_ : *beneath_; }

/// At packet level those that the plan does not know are behind it: ways back, and further ways to choose.
std::uint32_t PlanNetwork::links() const {
  return static_cast<std::uint32_t>(layout_ ? layout_->links.size() : plan_.links.size());
}

LinkId PlanNetwork::id(std::uint32_t link) const { return layout_ ? layout_->links[link] : plan_.links[link]; }

std::uint32_t PlanNetwork::members(std::uint32_t link) const {
  return link < plan_.link_members.size() ? plan_.link_members[link] : 1;
}

Bandwidth PlanNetwork::wire_rate(std::uint32_t link) const {
  return layout_ ? layout_->plan.links[link].rate : plan_.network.links[link].rate;
}

/// As if all packets, or those of the link itself, were full.
Bytes PlanNetwork::payload_of(std::uint32_t link, Bytes wire) const {
  const LinkFraming& framing = layout_->plan.links[link].framing;
  if (framing.unit > 0) { return scaled_down(wire, {framing.unit, framing.unit + framing.overhead}); }
  const TransportSpec& transport = options_.packet.transport;
  return scaled_down(wire, {transport.payload.count(), (transport.payload + transport.header).count()});
}

std::vector<LinkLoad> PlanNetwork::loads(Time time) const {
  std::vector<LinkLoad> loads;
  for (std::uint32_t link = 0; link < links(); ++link) {
    const Bytes carried = beneath_->carried(link);
    require(options_.level == NetworkLevel::ideal || transfer_time(carried, wire_rate(link)) <= time,
            "link {} carried {} bytes in {} ps, more than its rate allows", id(link).value, carried.count(),
            time.count());
    if (carried == Bytes::zero() && link >= plan_.links.size()) { continue; }
    loads.push_back({id(link), members(link), packets_ ? payload_of(link, carried) : carried});
  }
  return loads;
}

Time PlanNetwork::observed(Time time) const { return packets_ == nullptr ? time : std::max(time, packets_->quiet()); }

std::optional<PacketCounters> PlanNetwork::packets() const {
  if (packets_ == nullptr) { return std::nullopt; }
  return PacketCounters{packets_->switch_counters(), packets_->host_counters()};
}

std::vector<PortLoad> PlanNetwork::ports(Time time) const {
  std::vector<PortLoad> ports;
  if (!options_.count_ports) { return ports; }
  for (std::uint32_t link = 0; link < links(); ++link) {
    PortLoad port{fabric_.source(id(link)),
                  fabric_.target(id(link)),
                  fabric_.link(id(link)).kind,
                  members(link),
                  wire_rate(link),
                  beneath_->carried(link),
                  {},
                  {}};
    if (packets_ != nullptr) {
      port.counters = packets_->port_counters(link, time);
      port.pauses_sent = packets_->port_counters(layout_->plan.links[link].reverse, time).pauses;
    }
    ports.push_back(port);
  }
  return ports;
}

}  // namespace athanor
