#include "algorithms/synthesis/capacity_graph.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace athanor {

namespace {

/// Neighbours of every vertex, to both sides, as links come and go.
class Neighbourhoods {
 public:
  explicit Neighbourhoods(const CapacityGraph& graph) : out_(graph.vertices), around_(graph.vertices) {
    for (const CapacityLink& link : graph.links) { add(link.from, link.to, link.capacity); }
  }

  const std::map<std::uint32_t, std::int64_t>& out(std::uint32_t vertex) const { return out_[vertex]; }
  const std::set<std::uint32_t>& around(std::uint32_t vertex) const { return around_[vertex]; }

  /// Takes a switch with at most two neighbours out; these are then joined by what went through it.
  void bridge(std::uint32_t vertex) {
    const std::vector<std::uint32_t> ends(around_[vertex].begin(), around_[vertex].end());
    if (ends.size() == 2) {
      join(ends[0], vertex, ends[1]);
      join(ends[1], vertex, ends[0]);
    }
    for (const std::uint32_t end : ends) {
      out_[end].erase(vertex);
      around_[end].erase(vertex);
    }
    out_[vertex].clear();
    around_[vertex].clear();
  }

 private:
  void add(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
    if (from == to) { return; }
    out_[from][to] += capacity;
    around_[from].insert(to);
    around_[to].insert(from);
  }

  void join(std::uint32_t from, std::uint32_t through, std::uint32_t to) {
    const auto first = out_[from].find(through);
    const auto second = out_[through].find(to);
    if (first == out_[from].end() || second == out_[through].end()) { return; }
    add(from, to, std::min(first->second, second->second));
  }

  std::vector<std::map<std::uint32_t, std::int64_t>> out_;
  std::vector<std::set<std::uint32_t>> around_;
};

std::vector<bool> reached_from_first(const CapacityGraph& graph) {
  std::vector<std::vector<std::uint32_t>> next(graph.vertices);
  for (const CapacityLink& link : graph.links) { next[link.from].push_back(link.to); }
  std::vector<bool> reached(graph.vertices);
  std::vector<std::uint32_t> open{0};
  reached[0] = true;
  while (!open.empty()) {
    const std::uint32_t vertex = open.back();
    open.pop_back();
    for (const std::uint32_t other : next[vertex]) {
      if (!reached[other]) { open.push_back(other); }
      reached[other] = true;
    }
  }
  return reached;
}

}  // namespace

CapacityGraph simplified(const CapacityGraph& graph) {
  Neighbourhoods all(graph);
  std::vector<std::uint32_t> open;
  for (std::uint32_t vertex = graph.ranks; vertex < graph.vertices; ++vertex) { open.push_back(vertex); }
  while (!open.empty()) {
    const std::uint32_t vertex = open.back();
    open.pop_back();
    const std::set<std::uint32_t> around = all.around(vertex);
    if (around.empty() || around.size() > 2) { continue; }
    all.bridge(vertex);
    for (const std::uint32_t other : around) {
      if (other >= graph.ranks) { open.push_back(other); }
    }
  }
  std::vector<std::uint32_t> numbers(graph.vertices);
  CapacityGraph result{graph.ranks, 0, {}};
  for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) {
    numbers[vertex] = result.vertices;
    if (vertex < graph.ranks || !all.around(vertex).empty()) { ++result.vertices; }
  }
  for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) {
    for (const auto& [to, capacity] : all.out(vertex)) {
      result.links.push_back({numbers[vertex], numbers[to], capacity});
    }
  }
  return result;
}

CapacityGraph transposed(const CapacityGraph& graph) {
  CapacityGraph result = graph;
  for (CapacityLink& link : result.links) { std::swap(link.from, link.to); }
  return result;
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> unreachable_pair(const CapacityGraph& graph) {
  const std::vector<bool> forth = reached_from_first(graph);
  const std::vector<bool> back = reached_from_first(transposed(graph));
  for (std::uint32_t rank = 1; rank < graph.ranks; ++rank) {
    if (!forth[rank]) { return std::pair(0U, rank); }
    if (!back[rank]) { return std::pair(rank, 0U); }
  }
  return std::nullopt;
}

}  // namespace athanor
