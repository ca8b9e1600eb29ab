#include "topologies/generators/direct/direct_network.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

[[noreturn]] void refuse(std::string reason, std::string hint) {
  throw ScenarioError(Problem{"does-not-fit", std::move(reason), {}, std::move(hint)});
}

void check_members(const std::string& what, const Population& population, const RouterGraph& graph) {
  if (population.members == graph.hosting()) { return; }
  refuse(fmt::format("{} has {} positions, not {}", what, graph.hosting(), population.members),
         "make the number of nodes the product of the dimensions");
}

void check_radix(const std::string& what, const RouterGraph& graph, const DirectSpec& spec) {
  if (!spec.radix) { return; }
  for (std::uint32_t router = 0; router < graph.routers(); ++router) {
    const std::uint32_t hosts = router < graph.hosting() ? spec.hosts_per_router.value_or(0) : 0;
    const std::uint32_t ports = graph.ports(router) + hosts;
    if (ports <= *spec.radix) { continue; }
    refuse(fmt::format("a switch of {} needs {} ports, {} of them to other switches, and its radix is {}", what, ports,
                       ports - hosts, *spec.radix),
           ports - hosts < *spec.radix ? fmt::format("put at most {} hosts on a switch", *spec.radix + hosts - ports)
                                       : "take fewer switches along a dimension or in a group, or larger ones");
  }
}

void check(const Population& population, const RouterGraph& graph, const DirectSpec& spec) {
  const std::string what = "a " + graph.title();
  if (!spec.hosts_per_router) {
    check_members(what, population, graph);
    return;
  }
  check_radix(what, graph, spec);
  const std::uint64_t most = std::uint64_t{graph.hosting()} * *spec.hosts_per_router;
  if (population.attachments() <= most) { return; }
  refuse(fmt::format("{} hosts or NICs do not fit {} that takes {}", population.attachments(), what, most),
         fmt::format("use at most {} {}, or put more hosts on a switch",
                     population.mixed() ? most : most / std::max(population.attachments_each(), 1U),
                     population.mixed() ? "NICs"
                     : population.node  ? "nodes"
                                        : "hosts"));
}

}  // namespace

DirectNetwork::DirectNetwork(const Population& population, std::shared_ptr<const RouterGraph> graph,
                             const DirectSpec& spec)
    : population_(population), graph_(std::move(graph)), spec_(spec) {
  check(population_, *graph_, spec_);
  routers_.bare = attached() ? 0 : graph_->hosting();
}

std::array<std::uint32_t, 6> DirectNetwork::sides() const {
  return population_.endpoints_each() == 1 ? graph_->sides() : std::array<std::uint32_t, 6>{};
}

std::uint64_t DirectNetwork::links() const {
  std::uint64_t count = attached() ? 2ULL * population_.attachments() : 0;
  for (std::uint32_t router = 0; router < graph_->routers(); ++router) { count += graph_->ports(router); }
  return count;
}

void DirectNetwork::add_vertices(FabricBuilder& builder) {
  std::map<VertexKind, std::uint32_t> indices;
  for (std::uint32_t router = routers_.bare; router < graph_->routers(); ++router) {
    const VertexKind kind = graph_->kind(router);
    const bool of_node = members_are_routers() && router < graph_->hosting();
    const VertexId added =
        of_node ? builder.add({VertexKind::router, router, 0}) : builder.add({kind, kNoNode, indices[kind]++});
    if (router == routers_.bare) { routers_.first_own = added.value; }
  }
}

void DirectNetwork::add_links(FabricBuilder& builder) const {
  const Link local = from_switch(spec_.cable);
  const Link global = from_switch(spec_.global_cable);
  for (std::uint32_t router = 0; router < graph_->routers(); ++router) {
    for (std::uint32_t port = 0; port < graph_->ports(router); ++port) {
      builder.add_link(routers_.of(router), routers_.of(graph_->neighbour(router, port)),
                       graph_->is_global(router, port) ? global : local);
    }
  }
  if (!attached()) { return; }
  for (std::uint32_t a = 0; a < population_.attachments(); ++a) {
    const CableSpec cable = host_cable(spec_.host_cable, population_, a);
    builder.connect(population_.attachment(a), routers_.of(a / hosts_each()),
                    from_device(cable, population_.forwarding(a)), from_switch(cable));
  }
}

void DirectNetwork::route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
                          std::uint64_t flow, std::vector<LinkId>& path) const {
  const auto take = [&](VertexId v, std::uint32_t port) { path.push_back(LinkId{fabric.out(v).first + port}); };
  const std::uint32_t source = from / hosts_each();
  const std::uint32_t target = to / hosts_each();
  if (attached()) { take(population_.attachment(from), population_.network_port(from)); }
  if (source != target) {
    const std::size_t begin = path.size();
    PathBuilder links(fabric, routers_, path);
    std::uint64_t hash = join_hash(join_hash(join_hash(choice.seed, from), to), flow);
    if (choice.path > 0) { hash = join_hash(hash, choice.path); }
    const Routing routing = routing_of(choice);
    graph_->walk(routing, FlowDraws(hash), source, target, links);
    if (routing == Routing::valiant) { cut_loops(fabric, begin, path); }
  }
  if (attached()) { take(routers_.of(target), graph_->ports(target) + to % hosts_each()); }
}

Routing DirectNetwork::routing_of(const RoutingChoice& choice) const {
  if (choice.routing != Routing::ugal) { return choice.routing; }
  return choice.path < kShortestPaths ? graph_->routings().front() : Routing::valiant;
}

std::vector<Routing> DirectNetwork::routings() const {
  std::vector<Routing> possible = graph_->routings();
  if (std::count(possible.begin(), possible.end(), Routing::valiant) > 0) { possible.push_back(Routing::ugal); }
  return possible;
}

VertexRange DirectNetwork::members_on(VertexRange routers) const {
  const auto below = [&](std::uint32_t router) {
    const std::uint64_t slots = std::uint64_t{std::min(router, graph_->hosting())} * hosts_each();
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, population_.attachments()));
  };
  const std::uint32_t first = population_.members_begun(below(routers.first));
  return population_.range(first, std::max(first, population_.members_within(below(routers.first + routers.count))));
}

CutSet DirectNetwork::with_members(const RouterSet& set) const {
  CutSet result{set.name, {}, set.half};
  for (const VertexRange& routers : set.routers) {
    result.inside.push_back(members_on(routers));
    if (routers.first >= routers_.bare) { result.inside.push_back({routers_.of(routers.first).value, routers.count}); }
  }
  return result;
}

std::vector<CutSet> DirectNetwork::cut_sets() const {
  std::vector<CutSet> found;
  if (attached()) {
    found.push_back(with_members({members_are_routers() ? "position 0" : "switch 0", {{0, 1}}, false}));
  }
  for (const RouterSet& set : graph_->cut_sets()) { found.push_back(with_members(set)); }
  return found;
}

bool DirectNetwork::straddles() const {
  const std::uint32_t each = population_.attachments_each();
  return !population_.mixed() && hosts_each() % each != 0 && each % hosts_each() != 0;
}

bool DirectNetwork::alike_from_every_node() const {
  const bool full = std::uint64_t{graph_->hosting()} * hosts_each() == population_.attachments();
  return graph_->is_vertex_transitive() && full && !population_.mixed() &&
         hosts_each() % population_.attachments_each() == 0;
}

std::vector<std::string> DirectNetwork::warnings() const {
  std::vector<std::string> found;
  const std::uint64_t most = std::uint64_t{graph_->hosting()} * hosts_each();
  if (population_.attachments() < most) {
    found.push_back(fmt::format("{} of {} links to hosts or NICs are in use: the last switches have fewer or none",
                                population_.attachments(), most));
  }
  if (straddles()) {
    found.push_back(fmt::format("{} links to NICs of a switch do not divide into nodes of {}: some nodes straddle",
                                hosts_each(), population_.attachments_each()));
  }
  return found;
}

}  // namespace athanor
