#include "models/network/packet/packet_layout.hpp"

#include <algorithm>
#include <queue>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

constexpr DeviceIndex kNoDevice{UINT32_MAX};
constexpr LinkIndex kNoLink{UINT32_MAX};

bool in_node(VertexKind kind) {
  switch (kind) {
    case VertexKind::gpu:
    case VertexKind::process:
    case VertexKind::cpu:
    case VertexKind::memory:
    case VertexKind::pcie_switch:
    case VertexKind::nvswitch:
    case VertexKind::nic: return true;
    case VertexKind::host:
    case VertexKind::leaf:
    case VertexKind::spine:
    case VertexKind::core:
    case VertexKind::router:
    case VertexKind::custom: return false;
  }
  return false;
}

class PacketLayout {
 public:
  PacketLayout(const FabricConnections& connections, const Fabric& fabric, const PacketSettings& settings)
      : connections_(connections),
        fabric_(fabric),
        settings_(settings),
        device_of_(fabric.vertices(), kNoDevice),
        number_of_(fabric.links(), kNoLink),
        paths_(fabric) {
    packets_.switches = {settings.fabric, settings.node};
  }

  PacketsLaidOut make() {
    for (const LinkIndex l : connections_.links.ids()) { number_of_[connections_.links[l].value] = l; }
    for (const LinkId link : connections_.links) { links_.push_back(link); }
    for (LinkIndex l; l < links_.next(); ++l.value) { add_link(l); }
    add_flows();
    return {std::move(packets_), std::move(links_)};
  }

 private:
  DeviceIndex device(VertexId v) {
    DeviceIndex& device = device_of_[v.value];
    if (device == kNoDevice) {
      device = packets_.devices.push_back({false, in_node(fabric_.vertex(v).kind) ? 1U : 0U});
    }
    return device;
  }

  /// The link back: of parallel ones the one with the same place among them.
  LinkId reverse(LinkId link) const {
    const auto between = [&](VertexId from, VertexId to) {
      std::vector<LinkId> found;
      const auto [first, count] = fabric_.out(from);
      for (std::uint32_t l = first; l < first + count; ++l) {
        if (fabric_.target(LinkId{l}) == to) { found.push_back(LinkId{l}); }
      }
      return found;
    };
    const std::vector<LinkId> forth = between(fabric_.source(link), fabric_.target(link));
    const std::vector<LinkId> back = between(fabric_.target(link), fabric_.source(link));
    const auto place = static_cast<std::size_t>(std::find(forth.begin(), forth.end(), link) - forth.begin());
    if (place < back.size() && !fabric_.link(back[place]).down) { return back[place]; }
    throw SimulationError(
        "one-way",
        fmt::format("{} has no link back that is up, which acknowledgements need at packet level", fabric_.name(link)));
  }

  /// `l` may be one that this appends, so the list grows while it is gone through.
  void add_link(LinkIndex l) {
    const LinkId id = links_[l];
    const Link& link = fabric_.link(id);
    if (link.latency < PacketTopology::kLeastLatency) {
      throw SimulationError(
          "latency-too-small",
          fmt::format("{} has a latency of {}: at packet level links have at least {}", fabric_.name(id),
                      to_string(link.latency), to_string(PacketTopology::kLeastLatency)));
    }
    const LinkId back = reverse(id);
    packets_.links.push_back({device(fabric_.source(id)), device(fabric_.target(id)), number(back), wire_rate(link),
                              link.latency, framing(link.kind)});
  }

  LinkFraming framing(LinkKind kind) const {
    LinkFraming framing;
    switch (kind) {
      case LinkKind::pcie: framing = settings_.pcie; break;
      case LinkKind::nvlink: framing = settings_.nvlink; break;
      case LinkKind::c2c:
      case LinkKind::socket:
      case LinkKind::network: return framing;
    }
    framing.left_away = static_cast<std::uint16_t>(settings_.transport.header.count());
    return framing;
  }

  /// At which the usual packets of its kind bring payload over at the usable rate.
  Bandwidth wire_rate(const Link& link) const {
    constexpr Bytes kUsual{4096};  // payload for which usable rates of network links are given
    switch (link.kind) {
      case LinkKind::pcie: return scaled_down(link.usable, kPcieFraming.expansion());
      case LinkKind::nvlink: return scaled_down(link.usable, kNvlinkFraming.expansion());
      case LinkKind::c2c:
      case LinkKind::socket:
      case LinkKind::network: break;
    }
    const Bandwidth wanted = scaled_down(link.usable, {(kUsual + settings_.transport.header).count(), kUsual.count()});
    return link.kind == LinkKind::network ? std::min(wanted, link.rate) : wanted;
  }

  void add_flows() {
    for (const FlowGraph::Connection& connection : connections_.graph.connections) { add_flow(connection); }
    if (!settings_.takes_many_paths()) { return; }
    for (ConnectionId first; first < packets_.flows.next(); first.value += connections_.queue_pairs) {
      bool shortest = true;
      for (const ConnectionId f : IdRange{first, ConnectionId{first.value + connections_.queue_pairs}}) {
        shortest = spread(f) && shortest;
      }
      if (!shortest) { join_paths(first); }
    }
  }

  /// Lets a flow take all shortest paths between the first and the last switch on its path. False: its own is longer.
  bool spread(ConnectionId f) {
    const PacketTopology::Flow flow = packets_.flows[f];
    const auto link = [&](std::uint32_t hop) { return links_[packets_.hops[flow.first_hop + hop]]; };
    const auto balances = [&](VertexId v) {
      return ShortestPaths::balances(fabric_.vertex(v).kind) && !packets_.devices[device(v)].host;
    };
    std::uint32_t begin = 1;
    while (begin < flow.hops && !balances(fabric_.source(link(begin)))) { ++begin; }
    std::uint32_t end = flow.hops;
    while (end > begin && !balances(fabric_.target(link(end - 1)))) { --end; }
    if (begin >= end) { return true; }
    const auto& paths = paths_.between(fabric_.source(link(begin)), fabric_.target(link(end - 1)));
    if (paths.empty() || paths.front().size() != end - begin) { return false; }
    if (paths.size() > 1) { replace(f, begin, paths); }
    return true;
  }

  /// The paths of a flow: as its own up to `begin`, then each of these, then as its own again.
  void replace(ConnectionId f, std::uint32_t begin, const std::vector<ShortestPaths::Path>& paths) {
    constexpr std::size_t kMostHops = 100'000'000;
    PacketTopology::Flow& flow = packets_.flows[f];
    std::vector<LinkIndex>& hops = packets_.hops;
    if (hops.size() + paths.size() * flow.hops > kMostHops) {
      throw SimulationError("too-many-paths",
                            "more than 100,000,000 hops on paths that packets may choose: simulate "
                            "fewer ranks, or give each connection one path");
    }
    const auto first = static_cast<std::uint32_t>(hops.size());
    for (const ShortestPaths::Path& path : paths) {
      for (std::uint32_t hop = 0; hop < flow.hops; ++hop) {
        const bool free = hop >= begin && hop < begin + path.size();
        hops.push_back(free ? number(path[hop - begin]) : hops[flow.first_hop + hop]);
      }
    }
    flow.first_hop = first;
    flow.paths = static_cast<std::uint32_t>(paths.size());
    while (packets_.links.size() < links_.size()) { add_link(packets_.links.next()); }
  }

  LinkIndex number(LinkId link) {
    LinkIndex& number = number_of_[link.value];
    if (number == kNoLink) { number = links_.push_back(link); }
    return number;
  }

  /// The queue pairs of a connection that leave by one port take the paths of each other: where they are longer
  /// than the shortest ones, nothing else is known of where they may go.
  void join_paths(ConnectionId connection) {
    const auto begin = packets_.flows.begin() + static_cast<std::ptrdiff_t>(connection.value);
    const std::vector<PacketTopology::Flow> own(begin, begin + connections_.queue_pairs);
    if (own.size() == 1 || settings_.fabric.load_balancing != LoadBalancing::none) {
      const LinkId first = links_[packets_.hops[own[0].first_hop]];
      throw SimulationError("routing",
                            fmt::format("packets are to take all shortest paths, but the routing leads from {} longer "
                                        "ones: choose another \"routing\", or, for \"spray\", \"queue_pairs\": 16",
                                        fabric_.name(fabric_.source(first))));
    }
    for (std::size_t q = 0; q < own.size(); ++q) {
      PacketTopology::Flow& flow = begin[static_cast<std::ptrdiff_t>(q)];
      const auto first = static_cast<std::uint32_t>(packets_.hops.size());
      flow.paths = 0;
      for (const PacketTopology::Flow& other : own) {
        if (other.hops != own[q].hops || packets_.hops[other.first_hop] != packets_.hops[own[q].first_hop]) {
          continue;
        }
        ++flow.paths;
        for (std::uint32_t hop = 0; hop < flow.hops; ++hop) {
          packets_.hops.push_back(packets_.hops[other.first_hop + hop]);
        }
      }
      flow.first_hop = first;
    }
  }

  void add_flow(const FlowGraph::Connection& connection) {
    PacketTopology::Flow flow;
    flow.hops = flow.hops_back = connection.uses;
    flow.first_hop = static_cast<std::uint32_t>(packets_.hops.size());
    flow.first_hop_back = flow.first_hop + flow.hops;
    flow.cap = connection.cap;
    flow.grain = connection.grain;
    flow.software = connection.latency;
    for (std::uint32_t u = 0; u < connection.uses; ++u) {
      const LinkIndex link = connections_.graph.uses[connection.first_use + u].link;
      packets_.hops.push_back(link);
      flow.software -= packets_.links[link].latency;
    }
    for (std::uint32_t u = 0; u < connection.uses; ++u) {
      packets_.hops.push_back(packets_.links[packets_.hops[flow.first_hop_back - 1 - u]].reverse);
    }
    if (flow.hops > 0) {
      packets_.devices[packets_.links[packets_.hops[flow.first_hop]].source].host = true;
      packets_.devices[packets_.links[packets_.hops[flow.first_hop_back]].source].host = true;
    }
    packets_.flows.push_back(flow);
  }

  const FabricConnections& connections_;
  const Fabric& fabric_;
  const PacketSettings& settings_;
  std::vector<DeviceIndex> device_of_;  ///< by vertex
  std::vector<LinkIndex> number_of_;    ///< by link of the fabric
  IdVector<LinkIndex, LinkId> links_;
  ShortestPaths paths_;
  PacketTopology packets_;
};

}  // namespace

PacketsLaidOut packet_topology(const FabricConnections& connections, const Fabric& fabric,
                               const PacketSettings& settings) {
  return PacketLayout(connections, fabric, settings).make();
}

namespace {

constexpr std::uint32_t kFar = 0xffffffff;
constexpr std::size_t kMostSeen = 16'384;  // paths that are looked at before some of them are taken

}  // namespace

bool ShortestPaths::balances(VertexKind kind) {
  switch (kind) {
    case VertexKind::leaf:
    case VertexKind::spine:
    case VertexKind::core:
    case VertexKind::router:
    case VertexKind::custom: return true;
    case VertexKind::gpu:
    case VertexKind::process:
    case VertexKind::cpu:
    case VertexKind::memory:
    case VertexKind::pcie_switch:
    case VertexKind::nvswitch:
    case VertexKind::nic:
    case VertexKind::host: return false;
  }
  return false;
}

/// In links to `to`, by vertex. Goes backwards along the links that leave, as each has another one back; where that is
/// down extend() finds it out.
std::vector<std::uint32_t> ShortestPaths::distances(VertexId to) const {
  std::vector<std::uint32_t> distance(fabric_.vertices(), kFar);
  std::queue<VertexId> next;
  distance[to.value] = 0;
  for (next.push(to); !next.empty(); next.pop()) {
    const VertexId at = next.front();
    const auto [first, count] = fabric_.out(at);
    for (LinkId link{first}; link.value < first + count; ++link.value) {
      const VertexId neighbour = fabric_.target(link);
      const Link& figures = fabric_.link(link);
      if (figures.down || figures.kind != LinkKind::network || distance[neighbour.value] != kFar) { continue; }
      if (!balances(fabric_.vertex(neighbour).kind)) { continue; }
      distance[neighbour.value] = distance[at.value] + 1;
      next.push(neighbour);
    }
  }
  return distance;
}

void ShortestPaths::extend(Path& path, VertexId at, const std::vector<std::uint32_t>& distance,
                           std::vector<Path>& found) const {
  if (distance[at.value] == 0) { found.push_back(path); }
  const auto [first, count] = fabric_.out(at);
  for (LinkId link{first}; link.value < first + count && found.size() < kMostSeen; ++link.value) {
    const Link& figures = fabric_.link(link);
    const std::uint32_t left = distance[fabric_.target(link).value];
    if (figures.down || figures.kind != LinkKind::network || left == kFar || left + 1 != distance[at.value]) {
      continue;
    }
    path.push_back(link);
    extend(path, fabric_.target(link), distance, found);
    path.pop_back();
  }
}

const std::vector<ShortestPaths::Path>& ShortestPaths::between(VertexId from, VertexId to) {
  const auto [place, fresh] = known_.try_emplace({from.value, to.value});
  if (!fresh) { return place->second; }
  std::vector<Path> found;
  Path path;
  const std::vector<std::uint32_t> distance = distances(to);
  if (distance[from.value] != kFar) { extend(path, from, distance, found); }
  const std::size_t taken = std::min(found.size(), kMostPaths);
  for (std::size_t w = 0; w < taken; ++w) { place->second.push_back(std::move(found[w * found.size() / taken])); }
  return place->second;
}

}  // namespace athanor
