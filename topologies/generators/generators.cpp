#include "topologies/generators.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "topologies/generators/clos.hpp"
#include "topologies/routing/regular_router.hpp"

namespace athanor {

namespace {

void check_size(const Population& population, Wide more_vertices, Wide more_links) {
  const Wide members = population.members;
  const Wide vertices = members * population.vertices_each() + more_vertices;
  const Wide links = (population.node ? members * population.node->links() : 0) + more_links;
  const Wide bytes = bytes_needed(vertices, links);
  if (bytes <= kMostBytes) { return; }
  throw ScenarioError(Problem{
      "too-large",
      fmt::format("a fabric of {} devices and {} links needs {} GiB of memory, and {} GiB is the most that is used",
                  static_cast<std::uint64_t>(vertices), static_cast<std::uint64_t>(links),
                  static_cast<std::uint64_t>(bytes >> 30U), kMostBytes >> 30U),
      {},
      "describe a smaller cluster"});
}

/// The attachments, before anything that counts them in 32 bits.
void check_population(const Population& population) {
  const Wide attachments = Wide{population.members} * population.attachments_each();
  check_size(population, 1, 2 * attachments);
  require(population.members > 0, "a fabric without members");
  if (population.attachments_each() > 0) { return; }
  throw ScenarioError(Problem{
      "does-not-fit", "nodes without a NIC cannot be on a network", {}, "give the node NICs, or leave out the fabric"});
}

RoutingChoice choose(const RoutingRequest& request, const std::vector<Routing>& possible) {
  if (!request.routing) { return {possible.front(), request.seed}; }
  std::vector<std::string_view> names;
  for (const Routing routing : possible) {
    if (routing == *request.routing) { return {routing, request.seed}; }
    names.push_back(name(routing));
  }
  throw ScenarioError(Problem{"routing",
                              fmt::format("this fabric cannot be routed by {}", name(*request.routing)),
                              {},
                              fmt::format("use {}", fmt::join(names, " or "))});
}

Division first_node(const Population& population) {
  return {population.members > 1 ? "node 0" : "node", {{0, population.vertices_each()}}, false};
}

/// GPUs below the first half of the sockets, with all that hangs there; of one socket: half of the GPUs.
Division half_node(const NodeTemplate& node) {
  const NodeSpec& spec = node.spec();
  Division half{"half of the node", {}, true};
  const std::uint32_t first_socket = spec.gpus + (std::holds_alternative<NvSwitchSpec>(spec.scale_up) ? 1 : 0);
  const std::uint32_t sockets = spec.sockets / 2;
  std::uint32_t pcie_switch = first_socket + spec.sockets;
  for (const PcieGroupSpec& group : spec.pcie) {
    const bool inside = group.socket < sockets;
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

Cluster assemble(const Population& population, std::shared_ptr<NetworkStructure> network, const RoutingRequest& request,
                 std::string_view kind) {
  const RoutingChoice choice = choose(request, network->routings());
  check_size(population, network->vertices(), network->links());
  const std::uint64_t node_links = population.node ? std::uint64_t{population.members} * population.node->links() : 0;
  FabricBuilder builder;
  builder.reserve(population.vertices() + network->vertices(), node_links + network->links());
  add_vertices(population, builder);
  network->add_vertices(builder);
  add_links(population, builder);
  network->add_links(builder);

  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(builder.build());
  cluster.alike_from_every_node = true;
  cluster.tiers = network->tiers();
  cluster.warnings = network->warnings();
  if (population.node) { cluster.divisions.push_back(first_node(population)); }
  for (Division& division : network->divisions()) { cluster.divisions.push_back(std::move(division)); }
  cluster.endpoints.reserve(population.endpoints());
  for (std::uint32_t e = 0; e < population.endpoints(); ++e) { cluster.endpoints.push_back(population.endpoint(e)); }
  cluster.endpoints_per_node = population.endpoints_each();
  cluster.nics_per_node = population.node ? population.node->nics() : 0;
  const std::string what = population.node ? population.node->spec().name : std::string(name(population.kind));
  cluster.description = fmt::format("{} x {} on a {}", population.members, what, kind);
  cluster.router = std::make_unique<RegularRouter>(*cluster.fabric, population, std::move(network), choice);
  return cluster;
}

Cluster clos(const Population& population, const ClosShape& shape, const ClosSpec& spec, const RoutingRequest& routing,
             std::string_view kind) {
  const std::string size = shape.tiers == 1 ? std::string(kind) : fmt::format("{} of {} tiers", kind, shape.tiers);
  return assemble(population, std::make_shared<Clos>(population, shape, spec), routing, size);
}

}  // namespace

Wide bytes_needed(Wide vertices, Wide links) {
  // A link while building: its ends and properties, its place in the order; and its properties, target and source in
  // the graph. A vertex likewise.
  constexpr Wide kLink = 2 * sizeof(Link) + 2 * sizeof(std::uint32_t) + 3 * sizeof(std::uint32_t);
  constexpr Wide kVertex = 2 * sizeof(Vertex) + 2 * sizeof(std::uint32_t);
  return vertices * kVertex + links * kLink;
}

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
  cluster.alike_from_every_node = true;
  if (spec.gpus > 1) { cluster.divisions.push_back(half_node(*population.node)); }
  cluster.description = fmt::format("one {}", spec.name);
  return cluster;
}

Cluster star(const Population& population, const CableSpec& cable, std::optional<std::uint32_t> radix,
             const RoutingRequest& routing) {
  check_population(population);
  ClosSpec spec;
  spec.host_cable = spec.up_cable = spec.core_cable = cable;
  return clos(population, star_shape(population.attachments(), radix), spec, routing, "star");
}

Cluster fat_tree(const Population& population, const ClosSpec& spec, const RoutingRequest& routing) {
  check_population(population);
  return clos(population, clos_shape(population.attachments(), 0, spec), spec, routing, "fat tree");
}

Cluster rail_optimized(const Population& population, const ClosSpec& spec, const RoutingRequest& routing) {
  check_population(population);
  return clos(population, clos_shape(population.attachments(), population.attachments_each(), spec), spec, routing,
              "rail-optimized fat tree");
}

Cluster torus(const Population& population, const TorusSpec& spec, const RoutingRequest& routing) {
  check_population(population);
  check_torus(population.members, spec.dimensions);
  Cluster cluster = assemble(population, std::make_shared<Torus>(population, spec), routing,
                             fmt::format("torus of {}", fmt::join(spec.dimensions, " x ")));
  if (population.endpoints_each() == 1 && spec.dimensions.size() <= cluster.torus.size()) {
    std::copy(spec.dimensions.begin(), spec.dimensions.end(), cluster.torus.begin());
  }
  return cluster;
}

}  // namespace athanor
