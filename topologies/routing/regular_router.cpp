#include "topologies/routing/regular_router.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

/// How often a flow is hashed again before a search of the whole graph decides. With a share s of all paths left, one
/// of (1 - s)^64 flows comes to that.
constexpr std::uint64_t kTries = 64;

/// The GPUs beside a NIC, by NIC: with the fewest sockets between, and of those the ones whose own it is, if any.
std::vector<std::vector<std::uint32_t>> gpus_of_nics(const NodeTemplate& node) {
  std::vector<std::vector<std::uint32_t>> gpus(node.nics());
  for (std::uint32_t nic = 0; nic < node.nics(); ++nic) {
    const auto distance = [&](std::uint32_t gpu) {
      const std::span<const std::uint32_t> own = node.own_nics(gpu);
      const bool others = std::find(own.begin(), own.end(), nic) == own.end();
      return std::pair(node.sockets_between(gpu, node.nic_vertex(nic)), others);
    };
    for (std::uint32_t gpu = 0; gpu < node.gpus(); ++gpu) {
      if (!gpus[nic].empty() && distance(gpu) < distance(gpus[nic].front())) { gpus[nic].clear(); }
      if (gpus[nic].empty() || distance(gpu) == distance(gpus[nic].front())) { gpus[nic].push_back(gpu); }
    }
  }
  return gpus;
}

}  // namespace

RegularRouter::RegularRouter(const Fabric& fabric, const Population& population,
                             std::shared_ptr<const NetworkTopology> network, const RoutingChoice& choice)
    : fabric_(fabric),
      population_(population),
      network_(std::move(network)),
      choice_(choice),
      general_(fabric, choice.seed, choice.network) {
  if (!population.node) { return; }
  if (!population.mixed()) { gpus_of_nic_.push_back(gpus_of_nics(*population.node)); }
  for (const NodeKind& kind : population.kinds) { gpus_of_nic_.push_back(gpus_of_nics(*kind.node)); }
}

std::unique_ptr<Router> RegularRouter::with_seed(std::uint64_t seed) const {
  RoutingChoice choice = choice_;
  choice.seed = seed;
  return std::make_unique<RegularRouter>(fabric_, population_, network_, choice);
}

bool RegularRouter::whole(const std::vector<LinkId>& path, std::size_t begin) const {
  if (fabric_.links_down() == 0) { return true; }
  return std::none_of(path.begin() + static_cast<std::ptrdiff_t>(begin), path.end(),
                      [&](LinkId link) { return fabric_.link(link).down; });
}

bool RegularRouter::go_inside(VertexId from, VertexId to, std::vector<LinkId>& path) const {
  const Population::Home home = population_.home(from);
  const auto memory = home.node->staging(from.value - home.first_vertex, to.value - home.first_vertex);
  if (!memory) { return go_straight(from, to, path); }
  const VertexId by{home.first_vertex + *memory};
  return go_straight(from, by, path) && go_straight(by, to, path);
}

bool RegularRouter::go_straight(VertexId from, VertexId to, std::vector<LinkId>& path) const {
  const Population::Home home = population_.home(from);
  const NodeTemplate& node = *home.node;
  const std::uint32_t first = home.first_vertex;
  const std::uint32_t target = to.value - first;
  const std::size_t begin = path.size();
  for (std::uint32_t at = from.value - first; at != target;) {
    const std::uint16_t port = node.next_port(at, target);
    if (port == NodeTemplate::kNoPort) { return false; }
    path.push_back(LinkId{fabric_.out(VertexId{first + at}).first + port});
    at = node.neighbour(at, port);
  }
  if (whole(path, begin)) { return true; }
  path.resize(begin);
  return go_round_inside(from, to, path);
}

/// What is left of the node may be joined only over the network: that is another matter.
bool RegularRouter::go_round_inside(VertexId from, VertexId to, std::vector<LinkId>& path) const {
  if (!general_.reaches(from, to)) { return false; }
  const std::size_t begin = path.size();
  general_.route({from, to, 0}, path);
  return std::none_of(path.begin() + static_cast<std::ptrdiff_t>(begin), path.end(),
                      [&](LinkId link) { return fabric_.link(link).kind == LinkKind::network; });
}

bool RegularRouter::is_nic(VertexId end) const {
  const Population::Home home = population_.home(end);
  return home.node != nullptr && home.node->nic_number(end.value - home.first_vertex).has_value();
}

VertexId RegularRouter::nic_beside(VertexId end, std::uint32_t rail) const {
  const Population::Home home = population_.home(end);
  return VertexId{home.first_vertex + home.node->nic_vertex(rail)};
}

std::uint32_t RegularRouter::wanted_rail(VertexId end, std::uint32_t channel) const {
  const Population::Home home = population_.home(end);
  const NodeTemplate& node = *home.node;
  const std::uint32_t local = end.value - home.first_vertex;
  return node.nic_number(local).value_or(node.nearest_nic(local, channel));
}

/// What a request names, where its network has it.
std::optional<std::uint32_t> RegularRouter::named_rail(VertexId end, std::uint32_t nic) const {
  const NodeTemplate& node = *population_.home(end).node;
  if (nic >= node.spec().nics || is_nic(end)) { return {}; }
  return node.number_of_nic(nic);
}

RegularRouter::Rails RegularRouter::rails(const RouteRequest& request) const {
  const std::optional<std::uint32_t> out = named_rail(request.from, request.nics.out);
  const std::optional<std::uint32_t> in = named_rail(request.to, request.nics.in);
  Rails found{out.value_or(wanted_rail(request.from, request.channel)),
              in.value_or(wanted_rail(request.to, request.channel))};
  if ((choice_.pxn && !out) || network_->rails_apart()) {
    if (!is_nic(request.from)) {
      found.source = found.target % population_.home(request.from).node->nics();
    } else if (network_->rails_apart() && !is_nic(request.to)) {
      found.target = found.source;
    }
  }
  return fabric_.links_down() == 0 ? found : working_rails(request, found);
}

/// Whether some cable of the NIC carries data both ways.
bool RegularRouter::works(VertexId end, std::uint32_t rail) const {
  const VertexId nic = nic_beside(end, rail);
  const auto up_between = [&](VertexId from, VertexId to) {
    const auto [first, count] = fabric_.out(from);
    for (std::uint32_t l = first; l < first + count; ++l) {
      if (fabric_.target(LinkId{l}) == to && !fabric_.link(LinkId{l}).down) { return true; }
    }
    return false;
  };
  const auto [first, count] = fabric_.out(nic);
  for (std::uint32_t l = first; l < first + count; ++l) {
    const Link& link = fabric_.link(LinkId{l});
    if (link.kind != LinkKind::network || link.down) { continue; }
    if (up_between(fabric_.target(LinkId{l}), nic)) { return true; }
  }
  return false;
}

RegularRouter::Rails RegularRouter::working_rails(const RouteRequest& request, Rails wanted) const {
  const auto nics = [&](VertexId end) { return population_.home(end).node->nics(); };
  const auto next_working = [&](VertexId end, std::uint32_t rail) {
    for (std::uint32_t turn = 0; turn < nics(end) && !is_nic(end); ++turn) {
      if (works(end, (rail + turn) % nics(end))) { return (rail + turn) % nics(end); }
    }
    return rail;
  };
  if (!network_->rails_apart()) {
    const std::uint32_t target = next_working(request.to, wanted.target);
    const bool coupled = choice_.pxn && request.nics.out == NicChoice::kAny && !is_nic(request.from);
    return {next_working(request.from, coupled ? target % nics(request.from) : wanted.source), target};
  }
  if (is_nic(request.from) || is_nic(request.to)) { return wanted; }
  for (std::uint32_t turn = 0; turn < nics(request.to); ++turn) {
    const std::uint32_t rail = (wanted.target + turn) % nics(request.to);
    if (works(request.from, rail) && works(request.to, rail)) { return {rail, rail}; }
  }
  return wanted;
}

/// The GPU beside the NIC that takes the data of one that is not: the one that the request names for this NIC, or else
/// any that has fewer sockets on its path there.
std::optional<VertexId> RegularRouter::relay(const RouteRequest& request, std::uint32_t rail) const {
  const Population::Home home = population_.home(request.from);
  const NodeTemplate& node = *home.node;
  const std::uint32_t local = request.from.value - home.first_vertex;
  if (local >= node.gpus()) { return {}; }
  if (named_rail(request.from, request.nics.out) == rail) {
    if (request.nics.relay >= node.gpus()) { return {}; }
    return VertexId{home.first_vertex + request.nics.relay};
  }
  const std::vector<std::uint32_t>& beside = gpus_of_nic_[home.kind][rail];
  if (!choice_.relay || beside.empty()) { return {}; }
  const std::uint32_t nic = node.nic_vertex(rail);
  if (node.sockets_between(local, nic) <= node.sockets_between(beside.front(), nic)) { return {}; }
  return VertexId{home.first_vertex + beside[local % beside.size()]};
}

bool RegularRouter::leave(const RouteRequest& request, std::uint32_t rail, std::vector<LinkId>& path) const {
  const std::size_t begin = path.size();
  const VertexId nic = nic_beside(request.from, rail);
  if (const std::optional<VertexId> gpu = relay(request, rail)) {
    const bool there = go_inside(request.from, *gpu, path) &&
                       std::all_of(path.begin() + static_cast<std::ptrdiff_t>(begin), path.end(),
                                   [&](LinkId link) { return fabric_.link(link).kind == LinkKind::nvlink; });
    if (there && go_inside(*gpu, nic, path)) { return true; }
    path.resize(begin);
  }
  return go_inside(request.from, nic, path);
}

void RegularRouter::take_parallel_cables(std::vector<LinkId>& path, std::size_t begin) const {
  for (std::size_t i = begin; i < path.size(); ++i) {
    if (!fabric_.link(path[i]).down) { continue; }
    const auto [first, count] = fabric_.out(fabric_.source(path[i]));
    for (std::uint32_t l = first; l < first + count; ++l) {
      if (fabric_.target(LinkId{l}) != fabric_.target(path[i]) || fabric_.link(LinkId{l}).down) { continue; }
      path[i] = LinkId{l};
      break;
    }
  }
}

bool RegularRouter::cross(std::uint32_t source, std::uint32_t target, const RouteRequest& request,
                          std::vector<LinkId>& path) const {
  const std::size_t begin = path.size();
  RoutingChoice choice = choice_;
  choice.path = request.path;
  network_->route(fabric_, choice, source, target, request.flow, path);
  if (whole(path, begin)) { return true; }
  const bool tables = choice.routing == Routing::d_mod_k;
  const std::uint64_t tries = tables ? network_->detours() : choice.routing == Routing::dimension_order ? 0 : kTries;
  for (std::uint64_t attempt = 1; attempt <= tries; ++attempt) {
    path.resize(begin);
    if (tables) { choice.path = static_cast<std::uint32_t>(attempt); }
    network_->route(fabric_, choice, source, target, tables ? request.flow : join_hash(request.flow, attempt), path);
    if (whole(path, begin)) { return true; }
  }
  choice.path = request.path;
  path.resize(begin);
  network_->route(fabric_, choice, source, target, request.flow, path);
  take_parallel_cables(path, begin);
  return whole(path, begin);
}

bool RegularRouter::go_between(const RouteRequest& request, std::vector<LinkId>& path) const {
  if (!network_) { return false; }
  if (!population_.node) { return cross(request.from.value, request.to.value, request, path); }
  const Rails by = rails(request);
  if (network_->rails_apart() && by.source != by.target) { return false; }
  const auto attachment = [&](VertexId end, std::uint32_t rail) {
    return population_.home(end).first_attachment + rail;
  };
  return leave(request, by.source, path) &&
         cross(attachment(request.from, by.source), attachment(request.to, by.target), request, path) &&
         go_inside(nic_beside(request.to, by.target), request.to, path);
}

void RegularRouter::throw_lost(const RouteRequest& request) const {
  throw SimulationError("no-route",
                        fmt::format("no route from {} to {}: links of its path are down, and {} has no other",
                                    fabric_.name(request.from), fabric_.name(request.to), name(choice_.routing)));
}

void RegularRouter::route(const RouteRequest& request, std::vector<LinkId>& path) const {
  if (request.from == request.to) { return; }
  if (request.from.value >= population_.vertices() || request.to.value >= population_.vertices()) {
    general_.route(request, path);
    return;
  }
  const std::size_t begin = path.size();
  const bool together = population_.home(request.from).first_vertex == population_.home(request.to).first_vertex;
  if (together ? go_inside(request.from, request.to, path) : go_between(request, path)) { return; }
  path.resize(begin);
  if (fabric_.links_down() == 0) { throw_no_route(fabric_, request.from, request.to); }
  if (choice_.routing == Routing::dimension_order && network_) { throw_lost(request); }
  general_.route(request, path);
}

}  // namespace athanor
