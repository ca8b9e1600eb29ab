#include "topologies/node/node_graph.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "topologies/node/node_spec.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kNobody = 0xffffffff;

/// GPUs, what joins them, NICs.
int place_in_order(VertexKind kind) {
  if (kind == VertexKind::gpu) { return 0; }
  return kind == VertexKind::nic ? 2 : 1;
}

bool inside_a_node(VertexKind kind) {
  switch (kind) {
    case VertexKind::gpu:
    case VertexKind::cpu:
    case VertexKind::memory:
    case VertexKind::pcie_switch:
    case VertexKind::nvswitch:
    case VertexKind::nic:
    case VertexKind::custom: return true;
    case VertexKind::host:
    case VertexKind::leaf:
    case VertexKind::spine:
    case VertexKind::core:
    case VertexKind::router: return false;
  }
  return false;
}

/// For each device the CPU that it hangs on, by breadth-first search from all CPUs at once.
std::vector<std::uint32_t> nearest_cpus(const NodeGraph& graph) {
  std::vector<std::vector<std::uint32_t>> neighbours(graph.devices.size());
  for (const NodeGraph::Cable& cable : graph.cables) {
    if (cable.link.kind == LinkKind::nvlink) { continue; }
    neighbours[cable.a].push_back(cable.b);
    neighbours[cable.b].push_back(cable.a);
  }
  std::vector<std::uint32_t> owner(graph.devices.size(), kNobody);
  std::vector<std::uint32_t> reached;
  for (std::uint32_t v = 0; v < graph.devices.size(); ++v) {
    if (graph.devices[v] == VertexKind::cpu) {
      owner[v] = static_cast<std::uint32_t>(reached.size());
      reached.push_back(v);
    }
  }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const std::uint32_t next : neighbours[reached[i]]) {
      if (owner[next] != kNobody) { continue; }
      owner[next] = owner[reached[i]];
      reached.push_back(next);
    }
  }
  return owner;
}

}  // namespace

std::uint32_t NodeGraph::count(VertexKind kind) const {
  return static_cast<std::uint32_t>(std::count(devices.begin(), devices.end(), kind));
}

std::vector<std::string> faults(const NodeGraph& graph) {
  std::vector<std::string> found;
  if (graph.count(VertexKind::gpu) == 0) { found.emplace_back("a node needs at least one GPU"); }
  if (graph.devices.size() > kMaxDevicesPerNode) {
    found.push_back(
        fmt::format("{} devices in one node: at most {} are possible", graph.devices.size(), kMaxDevicesPerNode));
  }
  if (!std::is_sorted(graph.devices.begin(), graph.devices.end(),
                      [](VertexKind a, VertexKind b) { return place_in_order(a) < place_in_order(b); })) {
    found.emplace_back("GPUs come first in the graph of a node, and NICs last");
  }
  for (const VertexKind kind : graph.devices) {
    if (!inside_a_node(kind)) { found.push_back(fmt::format("a {} is no part of a node", name(kind))); }
  }
  for (const NodeGraph::Cable& cable : graph.cables) {
    if (std::max(cable.a, cable.b) >= graph.devices.size() || cable.a == cable.b) {
      found.push_back(fmt::format("a link joins devices {} and {} of {}", cable.a, cable.b, graph.devices.size()));
    }
    const Link& link = cable.link;
    if (link.usable <= Bandwidth::zero() || link.usable > link.rate || link.latency < Time::zero()) {
      found.push_back(fmt::format("the link between devices {} and {} has no bandwidth", cable.a, cable.b));
    }
    if (link.kind == LinkKind::network) {
      found.push_back(
          fmt::format("the link between devices {} and {} is a network's; give each a \"kind\"", cable.a, cable.b));
    }
  }
  return found;
}

std::vector<std::uint32_t> first_half(const NodeGraph& graph) {
  const std::uint32_t cpus = graph.count(VertexKind::cpu);
  std::vector<std::uint32_t> inside;
  if (cpus < 2) {
    for (std::uint32_t gpu = 0; gpu < graph.count(VertexKind::gpu) / 2; ++gpu) { inside.push_back(gpu); }
    return inside;
  }
  const std::vector<std::uint32_t> owner = nearest_cpus(graph);
  for (std::uint32_t v = 0; v < graph.devices.size(); ++v) {
    if (owner[v] < cpus / 2) { inside.push_back(v); }
  }
  return inside;
}

}  // namespace athanor
