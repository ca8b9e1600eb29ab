#include "models/jobs/nodes_of_cluster.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "models/jobs/gpu_set.hpp"
#include "sim/disjoint_groups.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// The first device of the network that a node is connected to.
std::optional<VertexId> first_switch(const std::vector<VertexId>& devices, const Cluster& cluster) {
  const Fabric& fabric = *cluster.fabric;
  for (const VertexId device : devices) {
    const Fabric::OutLinks out = fabric.out(device);
    for (std::uint32_t l = out.first; l < out.first + out.count; ++l) {
      const Link& link = fabric.link(LinkId{l});
      if (link.kind == LinkKind::network && belongs(cluster, link)) { return fabric.target(LinkId{l}); }
    }
  }
  return {};
}

/// Domains by the groups that nodes are in, counted in the order of nodes.
NodeTier tier_of(std::string name, const std::vector<std::uint32_t>& group_of_node) {
  NodeTier tier{std::move(name), {}, 0};
  std::map<std::uint32_t, std::uint32_t> domains;
  for (const std::uint32_t group : group_of_node) {
    tier.domains.push_back(domains.try_emplace(group, static_cast<std::uint32_t>(domains.size())).first->second);
  }
  tier.count = static_cast<std::uint32_t>(domains.size());
  return tier;
}

/// Tiers of nodes below common switches: those of their own switches, then of the switches next to these, and so on
/// until all are below one.
class TierFinder {
 public:
  TierFinder(const Cluster& cluster, std::vector<std::optional<VertexId>> first)
      : cluster_(cluster), first_(std::move(first)), groups_(cluster.fabric->vertices()) {}

  std::vector<NodeTier> find() {
    std::vector<bool> seen(cluster_.fabric->vertices());
    std::vector<VertexId> layer;
    for (const auto& each : first_) {
      if (!each || seen[each->value]) { continue; }
      seen[each->value] = true;
      layer.push_back(*each);
    }
    std::vector<NodeTier> tiers;
    while (!layer.empty()) {
      const NodeTier tier = tier_of(std::string(name(cluster_.fabric->vertex(layer.front()).kind)), groups_of_nodes());
      if (tiers.empty() || tier.count < tiers.back().count) { tiers.push_back(tier); }
      if (tier.count == 1) { break; }
      layer = next_layer(layer, seen);
    }
    return tiers;
  }

 private:
  std::vector<std::uint32_t> groups_of_nodes() {
    std::vector<std::uint32_t> groups;
    for (std::uint32_t node = 0; node < first_.size(); ++node) {
      groups.push_back(first_[node] ? groups_.of(first_[node]->value) : cluster_.fabric->vertices() + node);
    }
    return groups;
  }

  std::vector<VertexId> next_layer(const std::vector<VertexId>& layer, std::vector<bool>& seen) {
    const Fabric& fabric = *cluster_.fabric;
    std::vector<VertexId> next;
    for (const VertexId device : layer) {
      const Fabric::OutLinks out = fabric.out(device);
      for (std::uint32_t l = out.first; l < out.first + out.count; ++l) {
        const VertexId target = fabric.target(LinkId{l});
        if (fabric.link(LinkId{l}).kind != LinkKind::network || fabric.vertex(target).node != kNoNode) { continue; }
        groups_.join(device.value, target.value);
        if (!seen[target.value]) { next.push_back(target); }
        seen[target.value] = true;
      }
    }
    return next;
  }

  const Cluster& cluster_;
  std::vector<std::optional<VertexId>> first_;
  DisjointGroups groups_;
};

std::vector<std::vector<VertexId>> devices_by_node(const Cluster& cluster, std::uint32_t nodes) {
  std::vector<std::vector<VertexId>> devices(nodes);
  for (std::uint32_t v = 0; v < cluster.fabric->vertices(); ++v) {
    const std::uint32_t node = cluster.fabric->vertex(VertexId{v}).node;
    if (node < nodes) { devices[node].push_back(VertexId{v}); }
  }
  return devices;
}

/// Numbers of what hangs on what in a node.
class DeviceFinder {
 public:
  explicit DeviceFinder(const Fabric& fabric) : fabric_(fabric) {}

  NodeDevices find(const std::vector<VertexId>& of_node, std::uint32_t nics) {
    NodeDevices found;
    switches_.clear();
    sockets_.clear();
    for (const VertexKind kind : {VertexKind::gpu, VertexKind::nic}) {
      for (const VertexId device : of_node) {
        const bool is_gpu = kind == VertexKind::gpu;
        if (fabric_.vertex(device).kind != kind || (!is_gpu && found.switch_of_nic.size() == nics)) { continue; }
        const VertexId above = up(device, {VertexKind::pcie_switch, VertexKind::cpu});
        const VertexId socket = up(above, {VertexKind::cpu});
        (is_gpu ? found.switch_of_gpu : found.switch_of_nic).push_back(number_of(above, switches_));
        (is_gpu ? found.socket_of_gpu : found.socket_of_nic).push_back(number_of(socket, sockets_));
      }
    }
    return found;
  }

 private:
  /// The first of these kinds, in their order, that a device is connected to; itself where there is none.
  VertexId up(VertexId device, std::initializer_list<VertexKind> kinds) const {
    const Fabric::OutLinks out = fabric_.out(device);
    for (const VertexKind kind : kinds) {
      if (fabric_.vertex(device).kind == kind) { return device; }
      for (std::uint32_t l = out.first; l < out.first + out.count; ++l) {
        if (fabric_.vertex(fabric_.target(LinkId{l})).kind == kind) { return fabric_.target(LinkId{l}); }
      }
    }
    return device;
  }

  static std::uint8_t number_of(VertexId device, std::map<VertexId, std::uint8_t>& known) {
    return known.try_emplace(device, static_cast<std::uint8_t>(known.size())).first->second;
  }

  const Fabric& fabric_;
  std::map<VertexId, std::uint8_t> switches_;
  std::map<VertexId, std::uint8_t> sockets_;
};

void find_devices(const Cluster& cluster, const std::vector<std::vector<VertexId>>& by_node, NodeList& list) {
  DeviceFinder finder(*cluster.fabric);
  std::map<NodeDevices, std::uint16_t> known;
  for (const NodeId node : list.nodes.ids()) {
    NodeDevices devices = finder.find(by_node[node.value], list.nodes[node].nics);
    const auto [at, fresh] = known.try_emplace(devices, static_cast<std::uint16_t>(known.size()));
    if (fresh) { list.devices.push_back(std::move(devices)); }
    list.nodes[node].devices = at->second;
  }
}

}  // namespace

IdVector<NodeId, std::vector<std::uint32_t>> endpoints_by_node(const Cluster& cluster) {
  IdVector<NodeId, std::vector<std::uint32_t>> endpoints;
  std::map<std::uint32_t, NodeId> known;
  for (std::uint32_t endpoint = 0; endpoint < cluster.endpoints.size(); ++endpoint) {
    const std::uint32_t node = cluster.fabric->vertex(cluster.endpoints[endpoint]).node;
    if (node == kNoNode) {
      endpoints.push_back({endpoint});
      continue;
    }
    const auto [at, fresh] = known.try_emplace(node, endpoints.next());
    if (fresh) { endpoints.push_back({}); }
    endpoints[at->second].push_back(endpoint);
  }
  return endpoints;
}

NodeList nodes_of(const Cluster& cluster) {
  NodeList list;
  const std::string type = cluster.identity && !cluster.identity->gpu.empty() ? cluster.identity->gpu : "GPU";
  list.gpu_types = {type};
  std::map<std::uint32_t, NodeId> known;
  std::vector<std::vector<VertexId>> devices;
  for (const VertexId endpoint : cluster.endpoints) {
    const std::uint32_t node = cluster.fabric->vertex(endpoint).node;
    if (node == kNoNode) {
      list.nodes.push_back({.gpus = 1, .nics = 1});
      devices.push_back({endpoint});
      continue;
    }
    const auto [at, fresh] = known.try_emplace(node, list.nodes.next());
    if (fresh) { list.nodes.push_back({.nics = static_cast<std::uint16_t>(cluster.nics_per_node)}); }
    ++list.nodes[at->second].gpus;
  }
  for (const Node& node : list.nodes) {
    if (node.gpus <= GpuSet::kMost) { continue; }
    throw SimulationError("node-too-large", fmt::format("a node has {} GPUs; jobs are placed on nodes of {} at most",
                                                        node.gpus, GpuSet::kMost));
  }
  if (!known.empty()) { devices = devices_by_node(cluster, known.rbegin()->first + 1); }
  for (const NodeId node : list.nodes.ids()) {  // where nodes differ in them
    if (cluster.nics_per_node > 0 || known.empty()) { break; }
    const auto is_nic = [&](VertexId device) { return cluster.fabric->vertex(device).kind == VertexKind::nic; };
    list.nodes[node].nics =
        static_cast<std::uint16_t>(std::count_if(devices[node.value].begin(), devices[node.value].end(), is_nic));
  }
  for (const Node& node : list.nodes) {
    if (node.nics <= NicSet::kMost) { continue; }
    throw SimulationError("node-too-large", fmt::format("a node has {} NICs; jobs are placed on nodes of {} at most",
                                                        node.nics, NicSet::kMost));
  }
  if (!known.empty()) { find_devices(cluster, devices, list); }
  std::vector<std::optional<VertexId>> first;
  for (const auto& of_node : devices) { first.push_back(first_switch(of_node, cluster)); }
  list.tiers = TierFinder(cluster, std::move(first)).find();
  return list;
}

}  // namespace athanor
