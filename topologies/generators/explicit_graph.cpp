#include <algorithm>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "topologies/cluster.hpp"
#include "topologies/fabric/half_cut.hpp"
#include "topologies/generators.hpp"
#include "topologies/routing/shortest_path_router.hpp"

namespace athanor {

namespace {

[[noreturn]] void refuse(std::string code, std::string message, std::string hint) {
  throw ScenarioError(Problem{std::move(code), std::move(message), {}, std::move(hint)});
}

std::vector<VertexId> of_kind(const Fabric& fabric, VertexKind kind) {
  std::vector<VertexId> found;
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
    if (fabric.vertex(VertexId{v}).kind == kind) { found.emplace_back(v); }
  }
  return found;
}

/// Whether every device passes on whatever comes to it: then what reaches one endpoint reaches all, since cables lead
/// both ways.
bool all_pass(const Fabric& fabric) {
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
    const VertexKind kind = fabric.vertex(VertexId{v}).kind;
    if (kind == VertexKind::gpu || kind == VertexKind::nic) { return false; }
  }
  return true;
}

/// All pairs: a device that does not pass traffic on may reach two islands that do not reach each other.
void check_reachable(const Fabric& fabric, const ShortestPathRouter& router, const std::vector<VertexId>& endpoints) {
  const std::size_t looked_at = all_pass(fabric) ? 1 : endpoints.size();
  for (std::size_t t = 0; t < looked_at; ++t) {
    const VertexId to = endpoints[t];
    for (const VertexId from : endpoints) {
      if (router.reaches(from, to)) { continue; }
      refuse("unreachable", fmt::format("{} cannot reach {}", fabric.name(from), fabric.name(to)),
             "join them by links; a NIC is passed only between the network and its node, a GPU only over NVLink");
    }
  }
}

void check_routing(const RoutingRequest& routing) {
  if (routing.pxn.value_or(false)) {
    refuse("routing", "a graph written out knows no nodes that pxn could route in", "leave out \"pxn\"");
  }
  if (!routing.routing || *routing.routing == Routing::ecmp) { return; }
  refuse("routing", fmt::format("a graph written out cannot be routed by {}", name(*routing.routing)), "use ecmp");
}

/// With all that is nearer to the first half of the endpoints, by the least cut: what parts them from the others.
CutSet first_half(const Cluster& cluster) {
  const auto middle = cluster.endpoints.begin() + static_cast<std::ptrdiff_t>(cluster.endpoints.size() / 2);
  CutSet half{"first half of the endpoints", {}, true};
  const std::vector<VertexId> near(cluster.endpoints.begin(), middle);
  for (const VertexId v : near_side(*cluster.fabric, near, {middle, cluster.endpoints.end()})) {
    half.inside.push_back({v.value, 1});
  }
  return half;
}

}  // namespace

Cluster explicit_graph(const ExplicitGraph& graph, const RoutingRequest& routing) {
  check_routing(routing);
  FabricBuilder builder;
  for (const ExplicitGraph::Device& device : graph.devices) { builder.add_named(device.kind, device.name); }
  for (const ExplicitGraph::Cable& cable : graph.cables) {
    builder.connect(VertexId{cable.a}, VertexId{cable.b}, cable.link);
  }
  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(builder.build());
  cluster.endpoints = of_kind(*cluster.fabric, VertexKind::gpu);
  if (cluster.endpoints.empty()) { cluster.endpoints = of_kind(*cluster.fabric, VertexKind::host); }
  if (cluster.endpoints.empty()) {
    refuse("no-endpoint", "the graph has no vertex of kind gpu or host", "say which vertices take ranks");
  }
  // By a router of its own: the cluster's must not remember what overrides may still take down.
  check_reachable(*cluster.fabric, ShortestPathRouter(*cluster.fabric, routing.seed), cluster.endpoints);
  cluster.router = std::make_unique<ShortestPathRouter>(*cluster.fabric, routing.seed);
  if (cluster.endpoints.size() > 1) { cluster.cut_sets.push_back(first_half(cluster)); }
  cluster.description = fmt::format("a graph of {} devices", graph.devices.size());
  return cluster;
}

}  // namespace athanor
