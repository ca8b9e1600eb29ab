#include "models/experts/even_limited.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace athanor {

namespace {

/// Chosen experts of each kept node, the most first.
using NodeCounts = std::vector<std::uint32_t>;
using Distribution = std::map<NodeCounts, double>;

NodeCounts sorted(NodeCounts counts) {
  std::sort(counts.begin(), counts.end(), std::greater<>());
  return counts;
}

/// One more expert.
Distribution next(const Distribution& now, const EvenLimited& routing) {
  const double each = static_cast<double>(routing.ranks_per_node) * routing.experts_per_rank;
  Distribution then;
  for (const auto& [counts, probability] : now) {
    const bool full = counts.size() == routing.most_nodes;
    double drawn = 0;
    for (const std::uint32_t count : counts) { drawn += count; }
    const double open = static_cast<double>(full ? counts.size() : routing.nodes) * each - drawn;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      NodeCounts more = counts;
      ++more[i];
      then[sorted(std::move(more))] += probability * (each - counts[i]) / open;
    }
    if (full || counts.size() == routing.nodes) { continue; }
    NodeCounts more = counts;
    more.push_back(1);
    then[sorted(std::move(more))] += probability * static_cast<double>(routing.nodes - counts.size()) * each / open;
  }
  return then;
}

/// That at least one of `count` choices in a node is kept and on a given rank of it.
double hit(std::uint32_t count, const EvenLimited& routing) {
  const double own = routing.experts_per_rank;
  const double each = own * routing.ranks_per_node;
  // Going through the choices: j of them have been on this rank so far.
  std::vector<double> on_rank{1.0};
  for (std::uint32_t drawn = 0; drawn < count; ++drawn) {
    std::vector<double> then(on_rank.size() + 1, 0.0);
    for (std::size_t j = 0; j < on_rank.size(); ++j) {
      const double next = std::max(0.0, own - static_cast<double>(j)) / (each - drawn);
      then[j + 1] += on_rank[j] * next;
      then[j] += on_rank[j] * (1 - next);
    }
    on_rank = std::move(then);
  }
  double missed = 0;
  double all_dropped = 1;
  for (const double probability : on_rank) {
    missed += probability * all_dropped;
    all_dropped *= 1 - routing.kept;
  }
  return 1 - missed;
}

}  // namespace

ReachOfToken reach_of(const EvenLimited& routing) {
  Distribution counts{{{}, 1.0}};
  for (std::uint32_t drawn = 0; drawn < routing.chosen; ++drawn) { counts = next(counts, routing); }
  const EvenLimited whole{.nodes = 1,
                          .ranks_per_node = 1,
                          .experts_per_rank = routing.ranks_per_node * routing.experts_per_rank,
                          .kept = routing.kept};
  ReachOfToken reach;
  for (const auto& [of_nodes, probability] : counts) {
    for (const std::uint32_t count : of_nodes) {
      reach.nodes += probability * hit(count, whole);
      reach.ranks += probability * routing.ranks_per_node * hit(count, routing);
    }
  }
  return reach;
}

}  // namespace athanor
