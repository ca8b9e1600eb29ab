#include "models/network/fabric_network.hpp"

#include <algorithm>

#include "models/network/flow_network.hpp"
#include "models/network/ideal_network.hpp"
#include "models/network/packet/packet_network.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// What links may leave unused: half of the error, since single flows are off by up to about twice as much as links.
Ratio leeway_of(const NetworkOptions& options) {
  return {options.skip_error.numerator, 2 * options.skip_error.denominator};
}

/// The connections whose queue pairs keep to `rate` where they cross the network.
FabricConnections kept_to(Bandwidth rate, FabricConnections connections, const Fabric& fabric) {
  for (FlowGraph::Connection& pair : connections.graph.connections) {
    const auto path = connections.path_of(pair);
    const bool leaves_node = std::any_of(path.begin(), path.end(), [&](const FlowGraph::Use& use) {
      return fabric.link(connections.links[use.link]).kind == LinkKind::network;
    });
    if (leaves_node) { pair.cap = std::min(pair.cap, rate); }
  }
  return connections;
}

}  // namespace

FabricNetwork::FabricNetwork(Simulator& simulator, const FabricConnections& connections, const Fabric& fabric,
                             const NetworkOptions& options, std::uint64_t seed, MoveListener& listener)
    : connections_(connections),
      fabric_(fabric),
      options_(options),
      pairs_(listener, connections.count(), connections.queue_pairs) {
  std::optional<FabricConnections> limited;
  if (options.flow_rate) { limited = kept_to(*options.flow_rate, connections, fabric); }
  const FabricConnections& carried = limited ? *limited : connections;
  MoveListener& above = is_paired() ? static_cast<MoveListener&>(pairs_) : listener;
  switch (options.level) {
    case NetworkLevel::ideal: beneath_ = std::make_unique<IdealNetwork>(simulator, carried.graph, above); break;
    case NetworkLevel::flow:
      beneath_ = std::make_unique<FlowNetwork>(simulator, carried.graph, above, leeway_of(options));
      break;
    case NetworkLevel::packet:
      layout_ = packet_topology(carried, fabric, options.packet);
      const std::uint32_t threads = threads_hindrance(options).empty() ? options.threads : 1;
      auto packets = std::make_unique<PacketNetwork>(simulator, layout_->plan, options.packet.transport, seed, above,
                                                     PacketNetwork::Pace{.threads = threads});
      if (options.count_ports) { packets->count_ports(); }
      if (options.skip_error > Ratio{0, 1} && !options.count_ports) {  // counters of ports know no rates
        packets->skip_settled(options.skip_error);
      }
      packets->name_links([this](LinkIndex link) { return fabric_.name(layout_->links[link]); });
      packets_ = packets.get();
      beneath_ = std::move(packets);
      break;
  }
  pairs_.over(*beneath_);
}

FabricNetwork::~FabricNetwork() = default;

Network& FabricNetwork::network() { return is_paired() ? pairs_ : *beneath_; }

/// At packet level those that connections do not cross are behind the others: paths back, and further paths to choose.
IdRange<LinkIndex> FabricNetwork::links() const {
  const std::size_t count = layout_ ? layout_->links.size() : connections_.links.size();
  return {LinkIndex{0}, LinkIndex{static_cast<std::uint32_t>(count)}};
}

LinkId FabricNetwork::id(LinkIndex link) const { return layout_ ? layout_->links[link] : connections_.links[link]; }

std::uint32_t FabricNetwork::members(LinkIndex link) const {
  return link < connections_.link_members.next() ? connections_.link_members[link] : 1;
}

Bandwidth FabricNetwork::wire_rate(LinkIndex link) const {
  return layout_ ? layout_->plan.links[link].rate : connections_.graph.links[link].rate;
}

/// As if all packets, or those of the link itself, were full.
Ratio FabricNetwork::payload_share(LinkIndex link) const {
  const LinkFraming& framing = layout_->plan.links[link].framing;
  if (framing.unit > 0) { return {framing.unit, framing.unit + framing.overhead}; }
  const TransportSpec& transport = options_.packet.transport;
  return {transport.payload.count(), (transport.payload + transport.header).count()};
}

Bandwidth FabricNetwork::payload_rate(LinkIndex link) const {
  return layout_ ? scaled_up(wire_rate(link), payload_share(link)) : wire_rate(link);
}

std::vector<LinkLoad> FabricNetwork::loads(Time time) const {
  std::vector<LinkLoad> loads;
  for (const LinkIndex link : links()) {
    const Bytes carried = beneath_->carried(link);
    require(options_.level == NetworkLevel::ideal || transfer_time(carried, wire_rate(link)) <= time,
            "link {} carried {} bytes in {} ps, more than its rate allows", id(link).value, carried.count(),
            time.count());
    if (carried == Bytes::zero() && link >= connections_.links.next()) { continue; }
    loads.push_back({id(link), members(link), packets_ ? scaled_down(carried, payload_share(link)) : carried});
  }
  return loads;
}

namespace {

/// What one of each class carried, for every member of it.
std::vector<LinkLoad> of_each_link(const FabricConnections& connections, const std::vector<LinkLoad>& classes) {
  if (connections.all_links.empty()) { return classes; }
  std::vector<LinkLoad> loads;
  for (const LinkIndex link : connections.all_links.ids()) {
    loads.push_back({connections.all_links[link], 1, classes[connections.class_of_link[link].value].carried});
  }
  return loads;
}

}  // namespace

namespace {

/// `may_skip`: settled traffic might have been skipped.
PacketCounters counted(const PacketNetwork& network, bool may_skip) {
  PacketCounters counters{network.switch_counters(), network.host_counters(), {}};
  if (!may_skip) { return counters; }
  counters.skips = network.skip_counters() != nullptr ? *network.skip_counters() : SkipCounters{};
  return counters;
}

}  // namespace

NetworkUse FabricNetwork::use(Time end) const {
  NetworkUse use;
  use.observed = packets_ == nullptr ? end : std::max(end, packets_->quiet());
  use.loads = loads(use.observed);
  if (options_.each_link) { use.loads = of_each_link(connections_, use.loads); }
  use.ports = ports(use.observed);
  if (packets_ != nullptr) { use.packets = counted(*packets_, options_.skip_error > Ratio{0, 1}); }
  return use;
}

std::vector<PortLoad> FabricNetwork::ports(Time time) const {
  std::vector<PortLoad> ports;
  if (!options_.count_ports) { return ports; }
  for (const LinkIndex link : links()) {
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
