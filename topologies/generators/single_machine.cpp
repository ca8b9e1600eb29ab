#include <memory>

#include <fmt/core.h>

#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"
#include "topologies/population.hpp"
#include "topologies/routing/regular_router.hpp"
#include "topologies/routing/shortest_path_router.hpp"

namespace athanor {

namespace {

/// Processes of the first half of the sockets, with their memories; of one socket: half of the processes.
void add_half_of_processes(const NodeTemplate& node, CutSet& half) {
  const NodeSpec& spec = node.spec();
  const std::uint32_t sockets = spec.sockets / 2;
  std::uint32_t inside = spec.processes / 2;
  if (sockets > 0) {
    for (inside = 0; inside < spec.processes && spec.socket_of(inside) < sockets;) { ++inside; }
    half.inside.push_back({node.socket_vertex(0), sockets});
    if (spec.memory_link) { half.inside.push_back({node.memory_vertex(0), sockets}); }
  }
  half.inside.push_back({0, inside});
}

/// GPUs below the first half of the sockets, with all that hangs there; of one socket: half of the GPUs.
CutSet half_node(const NodeTemplate& node) {
  const NodeSpec& spec = node.spec();
  CutSet half{"half of the node", {}, true};
  if (spec.processes > 0) {
    add_half_of_processes(node, half);
    return half;
  }
  if (spec.graph) {
    for (const std::uint32_t v : first_half(*spec.graph)) { half.inside.push_back({v, 1}); }
    return half;
  }
  const std::uint32_t first_socket = spec.gpus + (std::holds_alternative<NvSwitchSpec>(spec.scale_up) ? 1 : 0);
  const std::uint32_t sockets = spec.sockets / 2;
  std::uint32_t pcie_switch = first_socket + spec.sockets;
  for (const PlacedGroup& placed : placed_groups(spec)) {
    const PcieGroupSpec& group = *placed.group;
    const bool inside = placed.socket < sockets;
    if (inside && group.has_switch) { half.inside.push_back({pcie_switch, 1}); }
    pcie_switch += group.has_switch ? 1 : 0;
    if (!inside) { continue; }
    for (const std::uint32_t gpu : group.gpus) { half.inside.push_back({gpu, 1}); }
    for (const std::uint32_t nic : group.nics) { half.inside.push_back({node.nic_vertex(nic), 1}); }
  }
  if (sockets > 0) {
    half.inside.push_back({first_socket, sockets});
  } else {
    half.inside.push_back({0, spec.gpus / 2});
  }
  return half;
}

/// So many ranks on one device.
Cluster one_host(std::uint32_t ranks) {
  FabricBuilder builder;
  builder.add_named(VertexKind::host, "host");
  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(builder.build());
  cluster.endpoints.assign(ranks, VertexId{0});
  cluster.router = std::make_unique<ShortestPathRouter>(*cluster.fabric, 0);
  return cluster;
}

}  // namespace

Cluster single_node(const NodeSpec& spec) {
  const Population population = nodes(1, spec);
  FabricBuilder builder;
  add_vertices(population, builder);
  add_links(population, builder);
  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(builder.build());
  cluster.router = std::make_unique<RegularRouter>(*cluster.fabric, population, nullptr, RoutingChoice{});
  for (std::uint32_t e = 0; e < spec.endpoints(); ++e) { cluster.endpoints.push_back(population.endpoint(e)); }
  cluster.endpoints_per_node = spec.endpoints();
  cluster.nics_per_node = spec.nics;
  cluster.nvswitches_reduce = population.node->nvswitches_reduce();
  cluster.identity = spec.identity;
  cluster.alike_from_every_node = true;
  if (spec.endpoints() > 1) { cluster.cut_sets.push_back(half_node(*population.node)); }
  cluster.description = fmt::format("one {}", spec.name);
  return cluster;
}

Cluster shared_memory(std::uint32_t ranks, std::uint32_t processors) {
  Cluster cluster = one_host(ranks);
  cluster.processors = processors;
  cluster.description =
      fmt::format("{} threads that share memory on {} processor{}", ranks, processors, processors == 1 ? "" : "s");
  return cluster;
}

Cluster shared_gpus(std::uint32_t ranks, std::uint32_t gpus) {
  Cluster cluster = one_host(ranks);
  cluster.shared_gpus = gpus;
  cluster.description = fmt::format("{} ranks that share the memory of {} GPU{}", ranks, gpus, gpus == 1 ? "" : "s");
  return cluster;
}

}  // namespace athanor
