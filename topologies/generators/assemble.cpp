#include "topologies/generators/assemble.hpp"

#include <algorithm>
#include <span>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"
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

bool can_relay(const Population& population) {
  const std::vector<NodeKind> kinds = kinds_of(population);
  return std::any_of(kinds.begin(), kinds.end(), [](const NodeKind& kind) {
    return kind.node && kind.node->nics() > 0 && has_nvlink(kind.node->spec());
  });
}

/// What is asked for; else hashing where the switches do it by themselves, or what the structure does best.
Routing choose_routing(const std::optional<Routing>& asked, bool hashes, const std::vector<Routing>& possible) {
  const auto can = [&](Routing routing) {
    return std::find(possible.begin(), possible.end(), routing) != possible.end();
  };
  if (!asked) { return hashes && can(Routing::ecmp) ? Routing::ecmp : possible.front(); }
  if (can(*asked)) { return *asked; }
  std::vector<std::string_view> names;
  for (const Routing routing : possible) { names.push_back(name(routing)); }
  throw ScenarioError(Problem{"routing",
                              fmt::format("this fabric cannot be routed by {}", name(*asked)),
                              {},
                              fmt::format("use {}", joined(names, " or "))});
}

RoutingChoice choose(const RoutingRequest& request, const AttachedNetwork& attached) {
  const NetworkTopology& network = *attached.topology;
  const bool able = can_relay(attached.population);
  if (request.pxn.value_or(false) && !able) {
    throw ScenarioError(Problem{"routing",
                                "pxn sends data over NVLink to the GPU beside the right NIC, and here is no NVLink",
                                {},
                                "leave out \"pxn\", or use nodes with NVLink and NICs"});
  }
  RoutingChoice choice{choose_routing(request.routing, attached.hashes, network.routings()), request.seed};
  choice.relay = able && request.pxn.value_or(true);
  choice.pxn = choice.relay && request.pxn.value_or(network.by_rails());
  return choice;
}

/// What is taken for granted of switches, where it decides something.
std::vector<std::string> assumptions(const RoutingRequest& request, const AttachedNetwork& attached) {
  const NetworkTopology& network = *attached.topology;
  if (request.routing || !attached.hashes || network.tiers().size() < 2) { return {}; }
  return {R"(these switches hash flows over equal paths: taken to be routed by "ecmp"; "d_mod_k" would be tables)"};
}

/// The first node of every kind.
void add_nodes(const Population& population, std::vector<CutSet>& cut_sets) {
  if (!population.node) { return; }
  for (const NodeKind& kind : kinds_of(population)) {
    const std::string name = population.members > 1 ? fmt::format("node {}", kind.first_member) : "node";
    cut_sets.push_back({name, {population.range(kind.first_member, kind.first_member + 1)}, false});
  }
}

std::string described(const Population& population) {
  if (!population.node) { return fmt::format("{} x {}", population.members, name(population.kind)); }
  std::vector<std::string> parts;
  for (const NodeKind& kind : kinds_of(population)) {
    parts.push_back(fmt::format("{} x {}", kind.members, kind.node->spec().name));
  }
  if (parts.size() == 1) { return parts.front(); }
  return fmt::format("{} and {}", joined(std::span(parts).first(parts.size() - 1), ", "), parts.back());
}

/// Do the NVSwitches of all nodes that have some?
bool nvswitches_reduce(const Population& population) {
  const auto reduces = [](const auto& kind) { return kind.node->nvswitches_reduce(); };
  if (population.mixed()) { return std::all_of(population.kinds.begin(), population.kinds.end(), reduces); }
  return !population.node || population.node->nvswitches_reduce();
}

/// What every node has of something; 0 where they differ.
std::uint32_t in_each(const Population& population, std::uint32_t (NodeTemplate::*count)() const) {
  const std::uint32_t first = (*population.node.*count)();
  const bool equal = std::all_of(population.kinds.begin(), population.kinds.end(),
                                 [&](const NodeKind& kind) { return (*kind.node.*count)() == first; });
  return equal ? first : 0;
}

/// That one endpoint has to itself, of the one that has most.
std::uint32_t nics_per_endpoint(const Population& population) {
  std::size_t most = 1;
  for (const NodeKind& kind : kinds_of(population)) {
    for (std::uint32_t local = 0; kind.node && kind.node->nics() > 0 && local < kind.node->endpoints(); ++local) {
      most = std::max(most, kind.node->own_nics(local).size());
    }
  }
  return static_cast<std::uint32_t>(most);
}

/// The one that nodes are described by: with all their NICs, or with those of their network.
const Population& first_population(const std::vector<AttachedNetwork>& networks) { return networks.front().population; }

void check_size(const std::vector<AttachedNetwork>& networks) {
  Wide vertices = 0;
  Wide links = 0;
  for (const AttachedNetwork& network : networks) {
    vertices += network.topology->vertices();
    links += network.topology->links();
  }
  check_size(first_population(networks), vertices, links);
}

std::uint64_t node_links(const Population& population) {
  std::uint64_t links = 0;
  for (const NodeKind& kind : kinds_of(population)) {
    links += kind.node ? std::uint64_t{kind.members} * kind.node->links() : 0;
  }
  return links;
}

/// Devices of the nodes and networks, then their links. Networks whose positions are the bare devices themselves count
/// the ports of those from 0: their links come first.
Fabric build(const std::vector<AttachedNetwork>& networks) {
  const Population& population = first_population(networks);
  std::uint64_t vertices = population.vertices();
  std::uint64_t links = node_links(population);
  for (const AttachedNetwork& network : networks) {
    vertices += network.topology->vertices();
    links += network.topology->links();
  }
  FabricBuilder builder;
  builder.reserve(vertices, links);
  add_vertices(population, builder);
  for (const AttachedNetwork& network : networks) {
    builder.select_network(network.name);
    network.topology->add_vertices(builder);
  }
  builder.select_network("");
  add_links(population, builder);
  std::vector<const AttachedNetwork*> order;
  for (const AttachedNetwork& network : networks) { order.push_back(&network); }
  std::stable_partition(order.begin(), order.end(),
                        [](const AttachedNetwork* network) { return network->topology->members_are_routers(); });
  for (const AttachedNetwork* network : order) {
    if (network->population.ports_before) { *network->population.ports_before = builder.ports(population.members); }
    builder.select_network(network->name);
    network->topology->add_links(builder);
  }
  return builder.build();
}

/// "16 x DGX-H100 on a fat tree", or "... on back_end: a star, front_end: a fat tree; ranks use back_end".
std::string described(const std::vector<AttachedNetwork>& networks, const AttachedNetwork& used) {
  const std::string members = described(used.population);
  if (networks.size() == 1) { return fmt::format("{} on a {}", members, used.topology->title()); }
  std::vector<std::string> titles;
  for (const AttachedNetwork& network : networks) {
    titles.push_back(fmt::format("{}: a {}", network.name, network.topology->title()));
  }
  return fmt::format("{} on {}; ranks use {}", members, joined(titles, ", "), used.name);
}

/// Of several networks each with its name; tiers of all are told, halves and groups of the one that is used.
void add_structure(const std::vector<AttachedNetwork>& networks, const AttachedNetwork& used, Cluster& cluster) {
  for (const AttachedNetwork& network : networks) {
    const std::string prefix = networks.size() > 1 ? network.name + " " : "";
    for (TierSummary& tier : network.topology->tiers()) {
      tier.name = prefix + tier.name;
      cluster.tiers.push_back(std::move(tier));
    }
    for (const std::string& warning : network.topology->warnings()) {
      cluster.warnings.push_back(networks.size() > 1 ? fmt::format("{}: {}", network.name, warning) : warning);
    }
    if (networks.size() > 1) {
      cluster.networks.push_back({network.name, network.topology->title(), network.nics, &network == &used});
    }
  }
  add_nodes(used.population, cluster.cut_sets);
  for (CutSet& set : used.topology->cut_sets()) { cluster.cut_sets.push_back(std::move(set)); }
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

Cluster assemble(const std::vector<AttachedNetwork>& networks, std::size_t used, const RoutingRequest& request) {
  const AttachedNetwork& attached = networks.at(used);
  const Population& population = attached.population;
  NetworkTopology& network = *attached.topology;
  RoutingChoice choice = choose(request, attached);
  if (networks.size() > 1) { choice.network = static_cast<std::uint8_t>(used + 1); }
  check_size(networks);
  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(build(networks));
  cluster.network = choice.network;
  cluster.picture = network.picture();
  cluster.torus = network.sides();
  cluster.alike_from_every_node = network.alike_from_every_node() && !population.mixed();
  add_structure(networks, attached, cluster);
  for (std::string& assumed : assumptions(request, attached)) { cluster.warnings.push_back(std::move(assumed)); }
  cluster.endpoints.reserve(population.endpoints());
  for (std::uint32_t e = 0; e < population.endpoints(); ++e) { cluster.endpoints.push_back(population.endpoint(e)); }
  cluster.endpoints_per_node = population.node ? in_each(population, &NodeTemplate::endpoints) : 1;
  cluster.nics_per_node = population.node ? in_each(population, &NodeTemplate::nics) : 0;
  cluster.nics_per_endpoint = nics_per_endpoint(population);
  cluster.nvswitches_reduce = nvswitches_reduce(population);
  if (population.node) { cluster.identity = population.node->spec().identity; }
  for (std::size_t kind = 1; kind < population.kinds.size(); ++kind) {
    cluster.others.push_back(population.kinds[kind].node->spec().identity);
  }
  cluster.description = described(networks, attached);
  cluster.router = std::make_unique<RegularRouter>(*cluster.fabric, population, attached.topology, choice);
  return cluster;
}

Cluster assemble(const Population& population, std::shared_ptr<NetworkTopology> network,
                 const RoutingRequest& request) {
  return assemble({{"", population, std::move(network), {}, false}}, 0, request);
}

Wide bytes_needed(Wide vertices, Wide links) {
  // A link while building: its ends and properties, its place in the order; and its properties, target and source in
  // the graph. A vertex likewise.
  constexpr Wide kLink = 2 * sizeof(Link) + 2 * sizeof(std::uint32_t) + 3 * sizeof(std::uint32_t);
  constexpr Wide kVertex = 2 * sizeof(Vertex) + 2 * sizeof(std::uint32_t);
  return vertices * kVertex + links * kLink;
}

}  // namespace athanor
