#include "topologies/routing/shortest_path_router.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

/// How a route came to a device: what decides whether it may go on, and where.
enum class Arrival : std::uint8_t { start, nvlink, network, other };
constexpr std::array kArrivals{Arrival::start, Arrival::nvlink, Arrival::network, Arrival::other};
/// Distances that are remembered: half a GiB of them.
constexpr std::size_t kMostKept = std::size_t{1} << 28U;
/// States that are looked at around a destination before all of the graph is.
constexpr std::size_t kMostNear = 1024;
constexpr std::uint16_t kFar = std::numeric_limits<std::uint16_t>::max();

Arrival arrival_by(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink: return Arrival::nvlink;
    case LinkKind::network: return Arrival::network;
    case LinkKind::c2c:
    case LinkKind::pcie:
    case LinkKind::socket: return Arrival::other;
  }
  return Arrival::other;
}

bool may_go_on(VertexKind device, Arrival arrival, LinkKind out) {
  if (arrival == Arrival::start) { return true; }
  if (device == VertexKind::gpu) { return arrival == Arrival::nvlink && out == LinkKind::nvlink; }
  if (device == VertexKind::nic) { return (arrival == Arrival::network) != (out == LinkKind::network); }
  return true;
}

/// Only of GPUs and NICs it matters how a route came: the others have one state.
bool asks_whence(VertexKind device) { return device == VertexKind::gpu || device == VertexKind::nic; }
std::uint32_t states(VertexKind device) { return asks_whence(device) ? 3 : 1; }

/// Which of the states of a device an arrival is: those that may go on alike are one.
std::uint32_t slot(VertexKind device, Arrival arrival) {
  if (!asks_whence(device) || arrival == Arrival::start) { return 0; }
  return arrival == (device == VertexKind::gpu ? Arrival::nvlink : Arrival::network) ? 1 : 2;
}

using StateGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                      boost::no_property, std::uint32_t, std::uint32_t>;

}  // namespace

std::uint16_t ShortestPathRouter::Towards::distance(std::uint32_t state) const {
  if (distances != nullptr) { return (*distances)[state]; }
  const auto found = near.find(state);
  return found == near.end() ? kFar : found->second;
}

/// The graph of (device, how it was reached).
struct ShortestPathRouter::Search {
  std::vector<std::uint32_t> first;  ///< state of each device, one more at the end
  StateGraph steps;

  std::uint32_t state(const Fabric& fabric, VertexId v, Arrival arrival) const {
    return first[v.value] + slot(fabric.vertex(v).kind, arrival);
  }
};

/// Every step that a route may make, from where it came from to where it leads; or back.
ShortestPathRouter::Search ShortestPathRouter::search(bool backward) const {
  require(fabric_.vertices() < std::numeric_limits<std::uint32_t>::max() / 3, "a graph of {} vertices",
          fabric_.vertices());
  Search search;
  search.first.reserve(fabric_.vertices() + std::size_t{1});
  std::uint32_t count = 0;
  for (std::uint32_t v = 0; v < fabric_.vertices(); ++v) {
    search.first.push_back(count);
    count += states(fabric_.vertex(VertexId{v}).kind);
  }
  search.first.push_back(count);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> steps;
  for (std::uint32_t l = 0; l < fabric_.links(); ++l) {
    if (!carries(fabric_.link(LinkId{l}))) { continue; }
    const VertexId from = fabric_.source(LinkId{l});
    const LinkKind kind = fabric_.link(LinkId{l}).kind;
    const std::uint32_t to = search.state(fabric_, fabric_.target(LinkId{l}), arrival_by(kind));
    std::uint32_t done = 0;  // a bit for each state
    for (const Arrival arrival : kArrivals) {
      const std::uint32_t own = slot(fabric_.vertex(from).kind, arrival);
      if ((done >> own & 1U) != 0 || !may_go_on(fabric_.vertex(from).kind, arrival, kind)) { continue; }
      done |= 1U << own;
      const std::uint32_t before = search.first[from.value] + own;
      steps.emplace_back(backward ? to : before, backward ? before : to);
    }
  }
  search.steps = StateGraph(boost::edges_are_unsorted_multi_pass, steps.begin(), steps.end(), count);
  return search;
}

void throw_no_route(const Fabric& fabric, VertexId from, VertexId to) {
  throw SimulationError("no-route", fmt::format("no route from {} to {}: nothing connects them that traffic may pass",
                                                fabric.name(from), fabric.name(to)));
}

ShortestPathRouter::ShortestPathRouter(const Fabric& fabric, std::uint64_t seed, std::optional<std::uint8_t> network)
    : fabric_(fabric), seed_(seed), network_(network) {}
ShortestPathRouter::~ShortestPathRouter() = default;

/// Into `to` only by way of one device that asks nobody whence he comes, such as the switch of a host: how far `to` is
/// from anywhere is then how far that device is, and one more. All hosts of a switch share its distances.
VertexId ShortestPathRouter::gate(VertexId to) const {
  const auto [first, count] = fabric_.out(to);
  VertexId only = to;
  for (std::uint32_t l = first; l < first + count; ++l) {
    const VertexId neighbour = fabric_.target(LinkId{l});
    if (only != to && neighbour != only) { return to; }
    only = neighbour;
  }
  return only != to && twins_ && !asks_whence(fabric_.vertex(only).kind) ? only : to;
}

/// Whether every device is reached only from those that it reaches, as cables join them; down is one way too.
bool ShortestPathRouter::all_links_have_twins() const {
  if (fabric_.links_down() > 0) { return false; }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> forth;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> back;
  for (std::uint32_t l = 0; l < fabric_.links(); ++l) {
    forth.emplace_back(fabric_.source(LinkId{l}).value, fabric_.target(LinkId{l}).value);
    back.emplace_back(forth.back().second, forth.back().first);
  }
  std::sort(forth.begin(), forth.end());
  std::sort(back.begin(), back.end());
  return forth == back;
}

/// By state, how far it is from one of `roots`, in steps of `search`: of all up to the distance of the nearest that is
/// `wanted`. Empty where those are too many, or none is reached.
template <class Wanted>
ShortestPathRouter::Near ShortestPathRouter::ball(const Search& search, std::vector<std::uint32_t> roots,
                                                  const Wanted& wanted) {
  Near distance;
  for (const std::uint32_t root : roots) { distance.emplace(root, std::uint16_t{0}); }
  bool found = std::any_of(roots.begin(), roots.end(), wanted);
  std::vector<std::uint32_t> queue = std::move(roots);
  for (std::size_t next = 0; next < queue.size() && queue.size() <= kMostNear && !found; ++next) {
    const auto further = static_cast<std::uint16_t>(distance.at(queue[next]) + 1);
    const auto [first, last] = boost::out_edges(queue[next], search.steps);
    for (auto edge = first; edge != last; ++edge) {
      const std::uint32_t state = boost::target(*edge, search.steps);
      if (!distance.emplace(state, further).second) { continue; }
      queue.push_back(state);
      found = found || wanted(state);
    }
  }
  return found ? distance : Near{};
}

/// Distances to `root` of `state` and of all that lies between: from whichever of both fewer devices are near.
ShortestPathRouter::Near ShortestPathRouter::near(VertexId root, std::uint32_t state) const {
  std::vector<std::uint32_t> roots;
  for (std::uint32_t own = search_->first[root.value]; own < search_->first[root.value + 1]; ++own) {
    roots.push_back(own);
  }
  Near around_root = ball(*search_, roots, [&](std::uint32_t each) { return each == state; });
  if (!around_root.empty()) { return around_root; }
  const auto is_root = [&](std::uint32_t each) { return each >= roots.front() && each <= roots.back(); };
  const Near around_state = ball(*forward_, {state}, is_root);
  if (around_state.empty()) { return {}; }
  std::uint16_t whole = kFar;
  for (const std::uint32_t own : roots) {
    const auto at = around_state.find(own);
    if (at != around_state.end()) { whole = std::min(whole, at->second); }
  }
  Near between;
  for (const std::uint32_t own : roots) { between.emplace(own, std::uint16_t{0}); }
  std::vector<std::uint32_t> queue = std::move(roots);
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const auto further = static_cast<std::uint16_t>(between.at(queue[next]) + 1);
    const auto [first, last] = boost::out_edges(queue[next], search_->steps);
    for (auto edge = first; edge != last; ++edge) {
      const std::uint32_t before = boost::target(*edge, search_->steps);
      const auto at = around_state.find(before);
      if (at == around_state.end() || at->second + further != whole) { continue; }
      if (between.emplace(before, further).second) { queue.push_back(before); }
    }
  }
  return between;
}

void ShortestPathRouter::look_at_graph() const {
  if (search_) { return; }
  search_ = std::make_unique<const Search>(search(true));
  forward_ = std::make_unique<const Search>(search(false));
  twins_ = all_links_have_twins();
}

/// Of a destination that is not yet known, what is near, where `from` is among it: trees of switches have many such
/// destinations, and large fabrics many devices that do not matter to any of them.
ShortestPathRouter::Towards ShortestPathRouter::towards(VertexId to, VertexId from) const {
  {
    const std::lock_guard lock(mutex_);
    look_at_graph();
    const VertexId root = gate(to);
    // Until that has cost as much as all distances, which are kept.
    std::size_t& spent = near_costs_[root.value];
    if (spent < search_->first.back() && !distances_.contains(root.value)) {
      Near close = near(root, search_->state(fabric_, from, Arrival::start));
      spent += close.empty() ? 2 * kMostNear : close.size();
      if (!close.empty()) { return {nullptr, root, std::move(close)}; }
    }
  }
  return towards(to);
}

ShortestPathRouter::Towards ShortestPathRouter::towards(VertexId to) const {
  const std::lock_guard lock(mutex_);
  look_at_graph();
  const VertexId root = gate(to);
  const auto found = distances_.find(root.value);
  if (found != distances_.end()) { return {found->second, root, {}}; }
  const std::size_t states = search_->first.back();
  std::vector<std::uint16_t> distance(states, kFar);
  std::vector<boost::default_color_type> colours(states, boost::white_color);
  const auto recorder = boost::make_bfs_visitor(boost::record_distances(distance.data(), boost::on_tree_edge()));
  // However it arrives, it is there: the searches from all arrivals are one search from several roots.
  boost::queue<std::uint32_t> queue;
  std::vector<std::uint32_t> roots;
  for (std::uint32_t state = search_->first[root.value]; state < search_->first[root.value + 1]; ++state) {
    roots.push_back(state);
    distance[state] = 0;
  }
  boost::breadth_first_visit(search_->steps, roots.begin(), roots.end(), queue, recorder, colours.data());
  if ((distances_.size() + 1) * states > kMostKept) { distances_.clear(); }
  const auto kept = std::make_shared<const std::vector<std::uint16_t>>(std::move(distance));
  return {distances_.emplace(root.value, kept).first->second, root, {}};
}

bool ShortestPathRouter::reaches(VertexId from, VertexId to) const {
  return from == to || (*towards(to).distances)[search_->first[from.value]] != kFar;
}

std::vector<bool> ShortestPathRouter::reached_from(VertexId from) const {
  const Search forward = search(false);
  std::vector<boost::default_color_type> colours(forward.first.back(), boost::white_color);
  boost::queue<std::uint32_t> queue;
  boost::breadth_first_visit(forward.steps, forward.first[from.value], queue, boost::default_bfs_visitor(),
                             colours.data());
  std::vector<bool> reached(fabric_.vertices(), false);
  for (std::uint32_t v = 0; v < fabric_.vertices(); ++v) {
    for (std::uint32_t s = forward.first[v]; s < forward.first[v + 1]; ++s) {
      if (colours[s] != boost::white_color) { reached[v] = true; }
    }
  }
  return reached;
}

void ShortestPathRouter::route(const RouteRequest& request, std::vector<LinkId>& path) const {
  if (request.from == request.to) { return; }
  const Towards towards = this->towards(request.to, request.from);
  const std::uint32_t more = towards.root == request.to ? 0 : 1;  // from the gate
  const auto distance = [&](VertexId v, Arrival arrival) -> std::uint32_t {
    if (v == request.to) { return 0; }
    const std::uint16_t found = towards.distance(search_->state(fabric_, v, arrival));
    return found == kFar ? kFar : found + more;
  };
  if (distance(request.from, Arrival::start) == kFar) { throw_no_route(fabric_, request.from, request.to); }
  std::uint64_t hash = join_hash(join_hash(join_hash(seed_, request.from.value), request.to.value), request.flow);
  std::vector<LinkId> equal;
  VertexId at = request.from;
  Arrival arrival = Arrival::start;
  while (at != request.to) {
    equal.clear();
    const std::uint32_t left = distance(at, arrival);
    const auto [first, count] = fabric_.out(at);
    for (std::uint32_t l = first; l < first + count; ++l) {
      const LinkKind kind = fabric_.link(LinkId{l}).kind;
      if (!carries(fabric_.link(LinkId{l})) || !may_go_on(fabric_.vertex(at).kind, arrival, kind)) { continue; }
      if (distance(fabric_.target(LinkId{l}), arrival_by(kind)) + 1 == left) { equal.push_back(LinkId{l}); }
    }
    require(!equal.empty(), "no way on from {}", fabric_.name(at));
    hash = join_hash(hash, at.value);
    const LinkId next = equal[scale_hash(hash, equal.size())];
    path.push_back(next);
    arrival = arrival_by(fabric_.link(next).kind);
    at = fabric_.target(next);
  }
}

}  // namespace athanor
