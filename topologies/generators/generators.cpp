#include "topologies/generators.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "topologies/generators/assemble.hpp"
#include "topologies/generators/clos.hpp"
#include "topologies/generators/planes.hpp"
#include "topologies/routing/regular_router.hpp"

namespace athanor {

namespace {

/// Rails need as many NICs in every node.
void check_rails(const Population& population) {
  for (const NodeKind& kind : population.kinds) {
    if (kind.node->nics() == population.attachments_each()) { continue; }
    throw ScenarioError(Problem{"does-not-fit",
                                fmt::format("a fabric by rail needs nodes with equally many NICs, and {} has {}, {} {}",
                                            population.node->spec().name, population.attachments_each(),
                                            kind.node->spec().name, kind.node->nics()),
                                {},
                                "use a fat_tree, or nodes with equally many"});
  }
}

/// GPUs below the first half of the sockets, with all that hangs there; of one socket: half of the GPUs.
Division half_node(const NodeTemplate& node) {
  const NodeSpec& spec = node.spec();
  Division half{"half of the node", {}, true};
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

GeneratedNetwork clos(const Population& population, const ClosShape& shape, const ClosSpec& spec,
                      std::string_view kind) {
  std::string size(kind);
  if (shape.tiers > 1) { size += fmt::format(" of {} tiers", shape.tiers); }
  if (shape.pods > 1) { size += fmt::format(" and {} pods", shape.pods); }
  return {std::make_shared<Clos>(population, shape, spec), size};
}

/// One switch where it takes all and nothing else is said.
ClosShape plane_shape(std::uint32_t attachments, std::uint32_t rails, const ClosSpec& spec) {
  const bool unsaid = !spec.tiers && !spec.hosts_per_leaf && !spec.leaves && !spec.spines;
  if (unsaid && rails == 0 && attachments <= spec.radix.value_or(attachments)) {
    return star_shape(attachments, spec.radix);
  }
  return clos_shape(attachments, rails, spec);
}

}  // namespace

Population nodes(std::uint32_t count, const NodeSpec& spec) {
  return {count, std::make_shared<const NodeTemplate>(spec), VertexKind::gpu};
}

Population hosts(std::uint32_t count, VertexKind kind) { return {count, nullptr, kind}; }

Cluster single_node(const NodeSpec& spec) {
  const Population population = nodes(1, spec);
  FabricBuilder builder;
  add_vertices(population, builder);
  add_links(population, builder);
  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(builder.build());
  cluster.router = std::make_unique<RegularRouter>(*cluster.fabric, population, nullptr, RoutingChoice{});
  for (std::uint32_t e = 0; e < spec.gpus; ++e) { cluster.endpoints.push_back(population.endpoint(e)); }
  cluster.endpoints_per_node = spec.gpus;
  cluster.nics_per_node = spec.nics;
  cluster.nvswitches_reduce = population.node->nvswitches_reduce();
  cluster.identity = spec.identity;
  cluster.alike_from_every_node = true;
  if (spec.gpus > 1) { cluster.divisions.push_back(half_node(*population.node)); }
  cluster.description = fmt::format("one {}", spec.name);
  return cluster;
}

GeneratedNetwork star_network(const Population& population, const CableSpec& cable,
                              std::optional<std::uint32_t> radix) {
  check_population(population);
  ClosSpec spec;
  spec.host_cable = spec.up_cable = spec.core_cable = cable;
  return clos(population, star_shape(population.attachments(), radix), spec, "star");
}

GeneratedNetwork fat_tree_network(const Population& population, const ClosSpec& spec) {
  check_population(population);
  return clos(population, clos_shape(population.attachments(), 0, spec), spec, "fat tree");
}

GeneratedNetwork rail_optimized_network(const Population& population, const ClosSpec& spec) {
  check_population(population);
  check_rails(population);
  return clos(population, clos_shape(population.attachments(), population.attachments_each(), spec), spec,
              "rail-optimized fat tree");
}

GeneratedNetwork rail_only_network(const Population& population, const ClosSpec& spec) {
  check_population(population);
  check_rails(population);
  const std::uint32_t rails = population.attachments_each();
  auto network = std::make_shared<Planes>(population, plane_shape(population.members, 0, spec), spec,
                                          ClosPlane::Serves::one_rail, rails);
  return {std::move(network), fmt::format("rail-only network of {} rails", rails)};
}

GeneratedNetwork dual_plane_network(const Population& population, const ClosSpec& spec, std::uint32_t planes,
                                    bool by_rail) {
  check_population(population);
  if (by_rail) { check_rails(population); }
  const std::uint32_t rails = by_rail ? population.attachments_each() : 0;
  auto network = std::make_shared<Planes>(population, plane_shape(population.attachments(), rails, spec), spec,
                                          ClosPlane::Serves::one_port, planes);
  return {std::move(network), fmt::format("{}fat tree in {} planes", by_rail ? "rail-optimized " : "", planes)};
}

GeneratedNetwork k_ary_n_tree_network(const Population& population, const KaryTreeSpec& spec) {
  check_population(population);
  const std::uint32_t most = kary_tree_hosts(spec.arity, spec.levels);
  if (population.attachments() > most) {
    throw ScenarioError(Problem{"does-not-fit",
                                fmt::format("{} hosts or NICs do not fit a {}-ary {}-tree, which takes {}",
                                            population.attachments(), spec.arity, spec.levels, most),
                                {},
                                "use more levels, or a greater arity"});
  }
  return {std::make_shared<KaryTree>(population, spec), fmt::format("{}-ary {}-tree", spec.arity, spec.levels)};
}

Cluster star(const Population& population, const CableSpec& cable, std::optional<std::uint32_t> radix,
             const RoutingRequest& routing) {
  return assemble(population, star_network(population, cable, radix), routing);
}

Cluster fat_tree(const Population& population, const ClosSpec& spec, const RoutingRequest& routing) {
  return assemble(population, fat_tree_network(population, spec), routing);
}

Cluster rail_optimized(const Population& population, const ClosSpec& spec, const RoutingRequest& routing) {
  return assemble(population, rail_optimized_network(population, spec), routing);
}

Cluster rail_only(const Population& population, const ClosSpec& spec, const RoutingRequest& routing) {
  return assemble(population, rail_only_network(population, spec), routing);
}

Cluster dual_plane(const Population& population, const ClosSpec& spec, std::uint32_t planes, bool by_rail,
                   const RoutingRequest& routing) {
  return assemble(population, dual_plane_network(population, spec, planes, by_rail), routing);
}

Cluster k_ary_n_tree(const Population& population, const KaryTreeSpec& spec, const RoutingRequest& routing) {
  return assemble(population, k_ary_n_tree_network(population, spec), routing);
}

}  // namespace athanor
