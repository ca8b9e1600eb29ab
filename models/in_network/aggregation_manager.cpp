#include "models/in_network/aggregation_manager.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

/// Does it belong to the network, so that it may aggregate?
bool is_switch(VertexKind kind) {
  switch (kind) {
    case VertexKind::leaf:
    case VertexKind::spine:
    case VertexKind::core:
    case VertexKind::router: return true;
    default: return false;
  }
}

/// The switches of a fabric and the links between them.
class SwitchGraph {
 public:
  explicit SwitchGraph(const Fabric& fabric) : fabric_(fabric) {}

  bool is_switch(VertexId vertex) const { return athanor::is_switch(fabric_.vertex(vertex).kind); }

  /// Of every vertex that is reached from `from` over switches alone: how many links away it is; kFar: not at all.
  std::vector<std::uint32_t> distances(VertexId from) const {
    std::vector<std::uint32_t> distance(fabric_.vertices(), kFar);
    std::vector<VertexId> queue{from};
    distance[from.value] = 0;
    for (std::size_t k = 0; k < queue.size(); ++k) {
      each_neighbour(queue[k], [&](VertexId next) {
        if (!is_switch(next) || distance[next.value] != kFar) { return false; }
        distance[next.value] = distance[queue[k].value] + 1;
        queue.push_back(next);
        return false;
      });
    }
    return distance;
  }

  /// The switch that is next to an endpoint, through as few devices of its node as there are.
  std::optional<VertexId> next_to(VertexId endpoint) const {
    std::vector<VertexId> queue{endpoint};
    std::set<std::uint32_t> seen{endpoint.value};  // of a node, not of the whole fabric
    std::optional<VertexId> found;
    for (std::size_t k = 0; k < queue.size() && !found; ++k) {
      each_neighbour(queue[k], [&](VertexId next) {
        if (is_switch(next)) { found = next; }
        if (seen.insert(next.value).second) { queue.push_back(next); }
        return found.has_value();
      });
    }
    return found;
  }

  /// A neighbour that is nearer by one; the first of those marked, else the first.
  VertexId step_down(VertexId from, const std::vector<std::uint32_t>& distance, const std::vector<bool>& marked) const {
    std::optional<VertexId> nearer;
    each_neighbour(from, [&](VertexId next) {
      if (!is_switch(next) || distance[next.value] + 1 != distance[from.value]) { return false; }
      if (!nearer || marked[next.value]) { nearer = next; }
      return static_cast<bool>(marked[next.value]);
    });
    return *nearer;
  }

 private:
  /// Until `see` returns true.
  template <class See>
  void each_neighbour(VertexId from, const See& see) const {
    const Fabric::OutLinks out = fabric_.out(from);
    for (LinkId link{out.first}; link.value < out.first + out.count; ++link.value) {
      if (!fabric_.link(link).down && see(fabric_.target(link))) { return; }
    }
  }

  const Fabric& fabric_;
};

std::vector<VertexId> switches_of(const SwitchGraph& graph, const Fabric& fabric, std::span<const VertexId> endpoints) {
  std::vector<VertexId> switches;
  for (const VertexId endpoint : endpoints) {
    const std::optional<VertexId> next = graph.next_to(endpoint);
    if (!next) {
      throw SimulationError("no-switch", fmt::format("{} is on no switch of a network, so nothing can aggregate for it",
                                                     fabric.name(endpoint)));
    }
    switches.push_back(*next);
  }
  return switches;
}

VertexId choose_top(const SwitchGraph& graph, const Fabric& fabric, const std::vector<VertexId>& lowest) {
  std::vector<std::uint32_t> farthest(fabric.vertices());
  std::vector<std::uint64_t> together(fabric.vertices());
  for (const VertexId from : lowest) {
    const std::vector<std::uint32_t> distance = graph.distances(from);
    for (std::uint32_t vertex = 0; vertex < distance.size(); ++vertex) {
      farthest[vertex] = std::max(farthest[vertex], distance[vertex]);
      together[vertex] += distance[vertex];
    }
  }
  std::optional<std::uint32_t> best;
  for (std::uint32_t vertex = 0; vertex < farthest.size(); ++vertex) {
    if (!graph.is_switch(VertexId{vertex}) || farthest[vertex] == kFar) { continue; }
    if (!best || std::pair(farthest[vertex], together[vertex]) < std::pair(farthest[*best], together[*best])) {
      best = vertex;
    }
  }
  if (best) { return VertexId{*best}; }
  const std::vector<std::uint32_t> reached = graph.distances(lowest.front());
  const auto lost = std::find_if(lowest.begin(), lowest.end(), [&](VertexId v) { return reached[v.value] == kFar; });
  throw SimulationError(
      "no-common-root",
      fmt::format("no switch reaches all ranks over switches: {} and {} are not joined", fabric.name(lowest.front()),
                  fabric.name(lost == lowest.end() ? lowest.back() : *lost)));
}

/// Switches and what they hang on, while the tree grows.
class Growing {
 public:
  Growing(const SwitchGraph& graph, const Fabric& fabric, VertexId top)
      : graph_(graph),
        distance_(graph.distances(top)),
        parent_(fabric.vertices(), kFar),
        in_tree_(fabric.vertices()),
        children_(fabric.vertices()),
        has_rank_(fabric.vertices()) {
    in_tree_[top.value] = true;
  }

  void add_rank(VertexId lowest) {
    ++children_[lowest.value];
    has_rank_[lowest.value] = true;
    for (VertexId at = lowest; !in_tree_[at.value];) {
      const VertexId next = graph_.step_down(at, distance_, in_tree_);
      in_tree_[at.value] = true;
      parent_[at.value] = next.value;
      ++children_[next.value];
      at = next;
    }
  }

  /// The tree without switches that only pass on, the top first, and everyone after what it hangs on.
  PlacedTree finish(const std::vector<VertexId>& of_ranks) const {
    PlacedTree placed;
    std::map<std::uint32_t, std::uint32_t> node_of;
    std::vector<std::uint32_t> parents;
    for (const VertexId vertex : kept()) {
      node_of.insert({vertex.value, static_cast<std::uint32_t>(placed.switches.size())});
      parents.push_back(placed.switches.empty() ? 0 : node_of.at(kept_above(vertex.value)));
      placed.switches.push_back(vertex);
    }
    std::vector<std::uint32_t> nodes_of_ranks;
    for (const VertexId lowest : of_ranks) { nodes_of_ranks.push_back(node_of.at(lowest.value)); }
    placed.tree = std::make_shared<const AggregationTree>(std::move(parents), std::move(nodes_of_ranks));
    return placed;
  }

 private:
  bool keeps(std::uint32_t vertex) const { return in_tree_[vertex] && (children_[vertex] > 1 || has_rank_[vertex]); }
  std::uint32_t kept_above(std::uint32_t vertex) const {
    do { vertex = parent_[vertex]; } while (!keeps(vertex));
    return vertex;
  }
  /// By distance from the top, then by number.
  std::vector<VertexId> kept() const {
    std::vector<VertexId> kept;
    for (std::uint32_t vertex = 0; vertex < in_tree_.size(); ++vertex) {
      if (keeps(vertex)) { kept.push_back(VertexId{vertex}); }
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [&](VertexId a, VertexId b) { return distance_[a.value] < distance_[b.value]; });
    return kept;
  }

  const SwitchGraph& graph_;
  std::vector<std::uint32_t> distance_;
  std::vector<std::uint32_t> parent_;
  std::vector<bool> in_tree_;
  std::vector<std::uint32_t> children_;
  std::vector<bool> has_rank_;  ///< by vertex
};

}  // namespace

PlacedTree build_aggregation_tree(const Fabric& fabric, std::span<const VertexId> endpoints,
                                  const EngineLimits& limits) {
  const SwitchGraph graph(fabric);
  const std::vector<VertexId> of_ranks = switches_of(graph, fabric, endpoints);
  std::vector<VertexId> lowest = of_ranks;
  std::sort(lowest.begin(), lowest.end(), [](VertexId a, VertexId b) { return a.value < b.value; });
  lowest.erase(std::unique(lowest.begin(), lowest.end()), lowest.end());
  Growing growing(graph, fabric, choose_top(graph, fabric, lowest));
  for (const VertexId rank : of_ranks) { growing.add_rank(rank); }
  PlacedTree placed = growing.finish(of_ranks);
  for (std::uint32_t node = 0; node < placed.tree->nodes(); ++node) {
    if (placed.tree->children(node).size() <= limits.children) { continue; }
    throw SimulationError("aggregation-radix", fmt::format("{} children hang on {}, which aggregates {} at most",
                                                           placed.tree->children(node).size(),
                                                           fabric.name(placed.switches[node]), limits.children));
  }
  return placed;
}

}  // namespace athanor
