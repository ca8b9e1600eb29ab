#include "models/jobs/data/storage_paths.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

template <class Visit>
void for_links_from(const Fabric& fabric, VertexId vertex, const Visit& visit) {
  const Fabric::OutLinks out = fabric.out(vertex);
  for (std::uint32_t l = out.first; l < out.first + out.count; ++l) { visit(LinkId{l}); }
}

/// Vertices of each node, counted as nodes_of() does: in the order of endpoints.
std::vector<std::vector<VertexId>> devices_of_nodes(const Cluster& cluster) {
  std::vector<std::vector<VertexId>> devices;
  std::map<std::uint32_t, std::size_t> known;
  for (const VertexId endpoint : cluster.endpoints) {
    const std::uint32_t node = cluster.fabric->vertex(endpoint).node;
    if (node == kNoNode) {
      devices.push_back({endpoint});
    } else if (known.try_emplace(node, devices.size()).second) {
      devices.emplace_back();
    }
  }
  for (std::uint32_t v = 0; v < cluster.fabric->vertices(); ++v) {
    const auto at = known.find(cluster.fabric->vertex(VertexId{v}).node);
    if (at != known.end()) { devices[at->second].push_back(VertexId{v}); }
  }
  return devices;
}

}  // namespace

StoragePaths::StoragePaths(const Cluster& cluster, const std::vector<NodeId>& servers,
                           std::optional<std::uint8_t> network)
    : fabric_(cluster.fabric), network_(network ? network : cluster.network), servers_(servers) {
  require(!servers.empty(), "a storage without servers");
  for (const auto& devices : devices_of_nodes(cluster)) {
    ports_.emplace_back();
    for (const VertexId device : devices) {
      bool is_port = false;
      for_links_from(*fabric_, device, [&](LinkId link) { is_port = is_port || carries(fabric_->link(link)); });
      if (is_port) { ports_.back().push_back(device); }
    }
  }
  for (const NodeId server : servers_) { distances_.push_back(distances_to(server)); }
}

bool StoragePaths::carries(const Link& link) const {
  if (link.kind != LinkKind::network || link.down) { return false; }
  return !network_ || link.network == *network_;
}

double StoragePaths::rate(std::uint32_t link) const {
  return static_cast<double>(fabric_->link(LinkId{link}).usable.count());
}

std::vector<std::uint32_t> StoragePaths::distances_to(NodeId server) const {
  const Fabric& fabric = *fabric_;
  std::vector<std::uint32_t> distance(fabric.vertices(), kFar);
  std::vector<VertexId> layer = ports_[server.value];
  for (const VertexId port : layer) { distance[port.value] = 0; }
  for (std::uint32_t hops = 1; !layer.empty(); ++hops) {
    std::vector<VertexId> next;
    for (const VertexId from : layer) {
      for_links_from(fabric, from, [&](LinkId link) {
        const VertexId to = fabric.target(link);
        if (!carries(fabric.link(link)) || distance[to.value] != kFar) { return; }
        distance[to.value] = hops;
        next.push_back(to);
      });
    }
    layer = std::move(next);
  }
  return distance;
}

bool StoragePaths::reaches(NodeId node, std::size_t server) const {
  if (node == servers_[server]) { return true; }
  return std::any_of(ports_[node.value].begin(), ports_[node.value].end(),
                     [&](VertexId port) { return distances_[server][port.value] != kFar; });
}

std::optional<NodeId> StoragePaths::cut_off() const {
  for (std::uint32_t node = 0; node < ports_.size(); ++node) {
    for (std::size_t server = 0; server < servers_.size(); ++server) {
      if (!reaches(NodeId{node}, server)) { return NodeId{node}; }
    }
  }
  return {};
}

/// From the ports of a node that are nearest to the server, hop by hop over all links that lead nearer to it. What is
/// read goes the same way back.
void StoragePaths::add_walk(NodeId node, std::size_t server, bool reading, std::vector<double>& shares) const {
  const Fabric& fabric = *fabric_;
  const std::vector<std::uint32_t>& distance = distances_[server];
  std::vector<VertexId> start;
  for (const VertexId port : ports_[node.value]) {
    if (distance[port.value] != kFar) { start.push_back(port); }
  }
  std::map<std::pair<std::uint32_t, VertexId>, double, std::greater<>> open;  ///< by distance, the farthest first
  for (const VertexId port : start) {
    open[{distance[port.value], port}] += 1.0 / static_cast<double>(start.size() * servers_.size());
  }
  while (!open.empty() && open.begin()->first.first > 0) {
    const auto [at, share] = *open.begin();
    open.erase(open.begin());
    std::vector<LinkId> nearer;
    for_links_from(fabric, at.second, [&](LinkId link) {
      if (carries(fabric.link(link)) && distance[fabric.target(link).value] < at.first) { nearer.push_back(link); }
    });
    for (const LinkId link : nearer) {
      const VertexId to = fabric.target(link);
      const double part = share / static_cast<double>(nearer.size());
      open[{distance[to.value], to}] += part;
      if (!reading) {
        shares[link.value] += part;
        continue;
      }
      std::vector<LinkId> back;
      for_links_from(fabric, to, [&](LinkId other) {
        if (fabric.target(other) == at.second && carries(fabric.link(other))) { back.push_back(other); }
      });
      for (const LinkId other : back) { shares[other.value] += part / static_cast<double>(back.size()); }
    }
  }
}

StoragePaths::Shares StoragePaths::shares_of(NodeId node, bool reading) const {
  std::vector<double> by_link(fabric_->links());
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    if (node == servers_[server]) { continue; }
    if (!reaches(node, server)) {
      throw SimulationError("no-route", fmt::format("node {} does not reach node {}, which serves a storage",
                                                    node.value, servers_[server].value));
    }
    add_walk(node, server, reading, by_link);
  }
  Shares shares;
  for (std::uint32_t link = 0; link < by_link.size(); ++link) {
    if (by_link[link] > 0) { shares.emplace_back(link, by_link[link]); }
  }
  return shares;
}

StoragePaths::Shares StoragePaths::reading(NodeId node) const { return shares_of(node, true); }
StoragePaths::Shares StoragePaths::writing(NodeId node) const { return shares_of(node, false); }

}  // namespace athanor
