#include "algorithms/synthesis/gather_bound.hpp"

#include <algorithm>

#include "algorithms/synthesis/max_flow.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// Ranks, the neighbours of those before them first where that can be: then most flows are short.
std::vector<std::uint32_t> nearby_order(const CapacityGraph& graph) {
  std::vector<std::vector<std::uint32_t>> next(graph.vertices);
  for (const CapacityLink& link : graph.links) { next[link.from].push_back(link.to); }
  std::vector<bool> seen(graph.vertices);
  std::vector<std::uint32_t> queue{0};
  seen[0] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t other : next[queue[i]]) {
      if (!seen[other]) { queue.push_back(other); }
      seen[other] = true;
    }
  }
  std::erase_if(queue, [&](std::uint32_t vertex) { return vertex >= graph.ranks; });
  return queue;
}

/// A graph with a source that feeds every rank. Ranks that were found to get enough become part of the source: a cut
/// that has one of them on its far side is known to be wide enough.
class FedGraph {
 public:
  explicit FedGraph(const CapacityGraph& graph) : graph_(graph), source_(graph.vertices), flow_(graph.vertices + 1) {
    for (const CapacityLink& link : graph.links) { flow_.add(link.from, link.to, link.capacity); }
    for (std::uint32_t rank = 0; rank < graph.ranks; ++rank) { flow_.add(source_, rank, 0); }
    done_.resize(graph.ranks);
  }

  /// Links carry `scale` times their capacity, the source `feed` to each rank.
  void set(std::int64_t scale, std::int64_t feed) {
    feed_ = feed;
    for (std::uint32_t i = 0; i < graph_.links.size(); ++i) { flow_.set_capacity(i, graph_.links[i].capacity * scale); }
    for (std::uint32_t rank = 0; rank < graph_.ranks; ++rank) {
      flow_.set_capacity(arc_to(rank), done_[rank] ? MaxFlow::kUnlimited : feed);
    }
  }

  bool gets_enough(std::uint32_t rank) {
    const std::int64_t wanted = feed_ * graph_.ranks;
    return flow_.flow(source_, rank, wanted) == wanted;
  }

  void join_source(std::uint32_t rank) {
    done_[rank] = true;
    flow_.set_capacity(arc_to(rank), MaxFlow::kUnlimited);
  }

  /// After a rank that does not get enough.
  GatherBound cut() const {
    GatherBound bound;
    bound.cut.resize(graph_.vertices);
    for (std::uint32_t vertex = 0; vertex < graph_.vertices; ++vertex) {
      bound.cut[vertex] = flow_.at_source(vertex);
      if (vertex < graph_.ranks && bound.cut[vertex]) { ++bound.inside; }
    }
    for (const CapacityLink& link : graph_.links) {
      if (bound.cut[link.from] && !bound.cut[link.to]) { bound.capacity += link.capacity; }
    }
    return bound;
  }

 private:
  std::uint32_t arc_to(std::uint32_t rank) const { return static_cast<std::uint32_t>(graph_.links.size()) + rank; }

  const CapacityGraph& graph_;
  std::uint32_t source_;
  MaxFlow flow_;
  std::int64_t feed_ = 0;
  std::vector<bool> done_;
};

/// All but one vertex: of these the narrowest.
GatherBound narrowest_rank(const CapacityGraph& graph) {
  std::vector<std::int64_t> into(graph.ranks);
  for (const CapacityLink& link : graph.links) {
    if (link.to < graph.ranks) { into[link.to] += link.capacity; }
  }
  const auto least = std::min_element(into.begin(), into.end());
  GatherBound bound{graph.ranks - 1, *least, std::vector<bool>(graph.vertices, true)};
  bound.cut[static_cast<std::size_t>(least - into.begin())] = false;
  return bound;
}

}  // namespace

GatherBound gather_bound(const CapacityGraph& graph) {
  require(graph.ranks >= 2, "an all-gather of {} ranks", graph.ranks);
  GatherBound bound = narrowest_rank(graph);
  FedGraph fed(graph);
  fed.set(bound.inside, bound.capacity);
  for (const std::uint32_t rank : nearby_order(graph)) {
    while (!fed.gets_enough(rank)) {
      bound = fed.cut();
      require(bound.inside > 0 && bound.capacity > 0, "ranks that cannot be reached");
      fed.set(bound.inside, bound.capacity);
    }
    fed.join_source(rank);
  }
  return bound;
}

bool holds_trees(const CapacityGraph& graph, std::int64_t trees) {
  FedGraph fed(graph);
  fed.set(1, trees);
  const std::vector<std::uint32_t> order = nearby_order(graph);
  if (order.size() < graph.ranks) { return false; }
  for (const std::uint32_t rank : order) {
    if (!fed.gets_enough(rank)) { return false; }
    fed.join_source(rank);
  }
  return true;
}

}  // namespace athanor
