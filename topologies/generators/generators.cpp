#include "topologies/generators.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "topologies/generators/assemble.hpp"
#include "topologies/generators/clos.hpp"
#include "topologies/generators/planes.hpp"
#include "topologies/routing/regular_router.hpp"

namespace athanor {

namespace {

/// Of a uniform population the only one.
std::vector<NodeKind> kinds_of(const Population& population) {
  if (population.mixed()) { return population.kinds; }
  NodeKind kind;
  kind.members = population.members;
  kind.node = population.node;
  return {kind};
}

void check_size(const Population& population, Wide more_vertices, Wide more_links) {
  Wide vertices = more_vertices;
  Wide links = more_links;
  for (const NodeKind& kind : kinds_of(population)) {
    vertices += Wide{kind.members} * (kind.node ? kind.node->vertices() : 1);
    links += Wide{kind.members} * (kind.node ? kind.node->links() : 0);
  }
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

bool can_relay(const Population& population) {
  const std::vector<NodeKind> kinds = kinds_of(population);
  return std::any_of(kinds.begin(), kinds.end(), [](const NodeKind& kind) {
    return kind.node && kind.node->nics() > 0 && has_nvlink(kind.node->spec());
  });
}

RoutingChoice choose(const RoutingRequest& request, const Population& population, const NetworkStructure& network) {
  if (request.pxn.value_or(false) && !can_relay(population)) {
    throw ScenarioError(Problem{"routing",
                                "pxn sends data over NVLink to the GPU beside the right NIC, and here is no NVLink",
                                {},
                                "leave out \"pxn\", or use nodes with NVLink and NICs"});
  }
  const bool pxn = request.pxn.value_or(network.rails_apart() && can_relay(population));
  const std::vector<Routing> possible = network.routings();
  if (!request.routing) { return {possible.front(), request.seed, pxn}; }
  std::vector<std::string_view> names;
  for (const Routing routing : possible) {
    if (routing == *request.routing) { return {routing, request.seed, pxn}; }
    names.push_back(name(routing));
  }
  throw ScenarioError(Problem{"routing",
                              fmt::format("this fabric cannot be routed by {}", name(*request.routing)),
                              {},
                              fmt::format("use {}", fmt::join(names, " or "))});
}

/// The first node of every kind.
void add_nodes(const Population& population, std::vector<Division>& divisions) {
  if (!population.node) { return; }
  for (const NodeKind& kind : kinds_of(population)) {
    const std::string name = population.members > 1 ? fmt::format("node {}", kind.first_member) : "node";
    divisions.push_back({name, {population.range(kind.first_member, kind.first_member + 1)}, false});
  }
}

std::string described(const Population& population) {
  if (!population.node) { return fmt::format("{} x {}", population.members, name(population.kind)); }
  std::vector<std::string> parts;
  for (const NodeKind& kind : kinds_of(population)) {
    parts.push_back(fmt::format("{} x {}", kind.members, kind.node->spec().name));
  }
  if (parts.size() == 1) { return parts.front(); }
  return fmt::format("{} and {}", fmt::join(parts.begin(), parts.end() - 1, ", "), parts.back());
}

/// What every node has of something; 0 where they differ.
std::uint32_t in_each(const Population& population, std::uint32_t (NodeTemplate::*count)() const) {
  const std::uint32_t first = (*population.node.*count)();
  const bool equal = std::all_of(population.kinds.begin(), population.kinds.end(),
                                 [&](const NodeKind& kind) { return (*kind.node.*count)() == first; });
  return equal ? first : 0;
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

Cluster clos(const Population& population, const ClosShape& shape, const ClosSpec& spec, const RoutingRequest& routing,
             std::string_view kind) {
  std::string size(kind);
  if (shape.tiers > 1) { size += fmt::format(" of {} tiers", shape.tiers); }
  if (shape.pods > 1) { size += fmt::format(" and {} pods", shape.pods); }
  return assemble(population, std::make_shared<Clos>(population, shape, spec), routing, size);
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

void check_population(const Population& population) {
  Wide attachments = 0;
  bool connected = true;
  for (const NodeKind& kind : kinds_of(population)) {
    attachments += Wide{kind.members} * (kind.node ? kind.node->nics() : 1);
    connected = connected && (!kind.node || kind.node->nics() > 0);
  }
  check_size(population, 1, 2 * attachments);
  require(population.members > 0, "a fabric without members");
  if (connected) { return; }
  throw ScenarioError(Problem{
      "does-not-fit", "nodes without a NIC cannot be on a network", {}, "give the node NICs, or leave out the fabric"});
}

Cluster assemble(const Population& population, std::shared_ptr<NetworkStructure> network, const RoutingRequest& request,
                 std::string_view kind) {
  const RoutingChoice choice = choose(request, population, *network);
  check_size(population, network->vertices(), network->links());
  std::uint64_t node_links = 0;
  for (const NodeKind& of_node : kinds_of(population)) {
    node_links += of_node.node ? std::uint64_t{of_node.members} * of_node.node->links() : 0;
  }
  FabricBuilder builder;
  builder.reserve(population.vertices() + network->vertices(), node_links + network->links());
  add_vertices(population, builder);
  network->add_vertices(builder);
  add_links(population, builder);
  network->add_links(builder);

  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(builder.build());
  cluster.alike_from_every_node = network->alike_from_every_node() && !population.mixed();
  cluster.tiers = network->tiers();
  cluster.warnings = network->warnings();
  add_nodes(population, cluster.divisions);
  for (Division& division : network->divisions()) { cluster.divisions.push_back(std::move(division)); }
  cluster.endpoints.reserve(population.endpoints());
  for (std::uint32_t e = 0; e < population.endpoints(); ++e) { cluster.endpoints.push_back(population.endpoint(e)); }
  cluster.endpoints_per_node = population.node ? in_each(population, &NodeTemplate::gpus) : 1;
  cluster.nics_per_node = population.node ? in_each(population, &NodeTemplate::nics) : 0;
  cluster.description = fmt::format("{} on a {}", described(population), kind);
  cluster.router = std::make_unique<RegularRouter>(*cluster.fabric, population, std::move(network), choice);
  return cluster;
}

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
  check_rails(population);
  return clos(population, clos_shape(population.attachments(), population.attachments_each(), spec), spec, routing,
              "rail-optimized fat tree");
}

Cluster rail_only(const Population& population, const ClosSpec& spec, const RoutingRequest& routing) {
  check_population(population);
  check_rails(population);
  const std::uint32_t rails = population.attachments_each();
  auto network = std::make_shared<Planes>(population, plane_shape(population.members, 0, spec), spec,
                                          ClosPlane::Serves::one_rail, rails);
  const std::string kind = fmt::format("rail-only network of {} rails", rails);
  return assemble(population, std::move(network), routing, kind);
}

Cluster dual_plane(const Population& population, const ClosSpec& spec, std::uint32_t planes, bool by_rail,
                   const RoutingRequest& routing) {
  check_population(population);
  if (by_rail) { check_rails(population); }
  const std::uint32_t rails = by_rail ? population.attachments_each() : 0;
  auto network = std::make_shared<Planes>(population, plane_shape(population.attachments(), rails, spec), spec,
                                          ClosPlane::Serves::one_port, planes);
  const std::string kind = fmt::format("{}fat tree in {} planes", by_rail ? "rail-optimized " : "", planes);
  return assemble(population, std::move(network), routing, kind);
}

Cluster k_ary_n_tree(const Population& population, const KaryTreeSpec& spec, const RoutingRequest& routing) {
  check_population(population);
  const std::uint32_t most = kary_tree_hosts(spec.arity, spec.levels);
  if (population.attachments() > most) {
    throw ScenarioError(Problem{"does-not-fit",
                                fmt::format("{} hosts or NICs do not fit a {}-ary {}-tree, which takes {}",
                                            population.attachments(), spec.arity, spec.levels, most),
                                {},
                                "use more levels, or a greater arity"});
  }
  return assemble(population, std::make_shared<KaryTree>(population, spec), routing,
                  fmt::format("{}-ary {}-tree", spec.arity, spec.levels));
}

}  // namespace athanor
