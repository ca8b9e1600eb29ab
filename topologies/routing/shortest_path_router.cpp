#include "topologies/routing/shortest_path_router.hpp"

#include <limits>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <fmt/format.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

/// How a route came to a device: what decides whether it may go on, and where.
enum class Arrival : std::uint8_t { start, nvlink, network, other };
constexpr std::uint32_t kArrivals = 4;
/// Distances that are remembered: half a GiB of them.
constexpr std::size_t kMostKept = std::size_t{1} << 28U;
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

std::uint32_t state(VertexId v, Arrival arrival) { return v.value * kArrivals + static_cast<std::uint32_t>(arrival); }

using StateGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                      boost::no_property, std::uint32_t, std::uint32_t>;

/// Every step that a route may make, from where it came from to where it leads; or back.
StateGraph steps_of(const Fabric& fabric, bool backward) {
  require(fabric.vertices() < std::numeric_limits<std::uint32_t>::max() / kArrivals, "a graph of {} vertices",
          fabric.vertices());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> steps;
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    if (fabric.link(LinkId{l}).down) { continue; }
    const VertexId from = fabric.source(LinkId{l});
    const LinkKind kind = fabric.link(LinkId{l}).kind;
    const std::uint32_t to = state(fabric.target(LinkId{l}), arrival_by(kind));
    for (const Arrival arrival : {Arrival::start, Arrival::nvlink, Arrival::network, Arrival::other}) {
      if (!may_go_on(fabric.vertex(from).kind, arrival, kind)) { continue; }
      const std::uint32_t before = state(from, arrival);
      steps.emplace_back(backward ? to : before, backward ? before : to);
    }
  }
  return {boost::edges_are_unsorted_multi_pass, steps.begin(), steps.end(), fabric.vertices() * kArrivals};
}

}  // namespace

struct ShortestPathRouter::Search {
  StateGraph backward;
};

void throw_no_route(const Fabric& fabric, VertexId from, VertexId to) {
  throw SimulationError("no-route", fmt::format("no route from {} to {}: nothing connects them that traffic may pass",
                                                fabric.name(from), fabric.name(to)));
}

ShortestPathRouter::ShortestPathRouter(const Fabric& fabric, std::uint64_t seed) : fabric_(fabric), seed_(seed) {}
ShortestPathRouter::~ShortestPathRouter() = default;

ShortestPathRouter::Distances ShortestPathRouter::distances_to(VertexId to) const {
  const std::lock_guard lock(mutex_);
  if (!search_) { search_ = std::make_unique<const Search>(Search{steps_of(fabric_, true)}); }
  const auto found = distances_.find(to.value);
  if (found != distances_.end()) { return found->second; }
  std::vector<std::uint16_t> distance(std::size_t{fabric_.vertices()} * kArrivals, kFar);
  std::vector<boost::default_color_type> colours(distance.size(), boost::white_color);
  const auto recorder = boost::make_bfs_visitor(boost::record_distances(distance.data(), boost::on_tree_edge()));
  // However it arrives, it is there: the searches from all arrivals are one search from several roots.
  boost::queue<std::uint32_t> queue;
  std::vector<std::uint32_t> roots;
  for (std::uint32_t arrival = 0; arrival < kArrivals; ++arrival) {
    roots.push_back(to.value * kArrivals + arrival);
    distance[roots.back()] = 0;
  }
  boost::breadth_first_visit(search_->backward, roots.begin(), roots.end(), queue, recorder, colours.data());
  if ((distances_.size() + 1) * distance.size() > kMostKept) { distances_.clear(); }
  const auto kept = std::make_shared<const std::vector<std::uint16_t>>(std::move(distance));
  return distances_.emplace(to.value, kept).first->second;
}

bool ShortestPathRouter::reaches(VertexId from, VertexId to) const {
  return from == to || (*distances_to(to))[state(from, Arrival::start)] != kFar;
}

std::vector<bool> ShortestPathRouter::reached_from(VertexId from) const {
  const StateGraph forward = steps_of(fabric_, false);
  std::vector<boost::default_color_type> colours(std::size_t{fabric_.vertices()} * kArrivals, boost::white_color);
  boost::queue<std::uint32_t> queue;
  boost::breadth_first_visit(forward, state(from, Arrival::start), queue, boost::default_bfs_visitor(), colours.data());
  std::vector<bool> reached(fabric_.vertices(), false);
  for (std::size_t s = 0; s < colours.size(); ++s) {
    if (colours[s] != boost::white_color) { reached[s / kArrivals] = true; }
  }
  return reached;
}

void ShortestPathRouter::route(const RouteRequest& request, std::vector<LinkId>& path) const {
  if (request.from == request.to) { return; }
  const Distances distances = distances_to(request.to);
  const std::vector<std::uint16_t>& distance = *distances;
  if (distance[state(request.from, Arrival::start)] == kFar) { throw_no_route(fabric_, request.from, request.to); }
  std::uint64_t hash = join_hash(join_hash(join_hash(seed_, request.from.value), request.to.value), request.flow);
  std::vector<LinkId> equal;
  VertexId at = request.from;
  Arrival arrival = Arrival::start;
  while (at != request.to) {
    equal.clear();
    const std::uint16_t left = distance[state(at, arrival)];
    const auto [first, count] = fabric_.out(at);
    for (std::uint32_t l = first; l < first + count; ++l) {
      const LinkKind kind = fabric_.link(LinkId{l}).kind;
      if (fabric_.link(LinkId{l}).down || !may_go_on(fabric_.vertex(at).kind, arrival, kind)) { continue; }
      if (distance[state(fabric_.target(LinkId{l}), arrival_by(kind))] + 1 == left) { equal.push_back(LinkId{l}); }
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
