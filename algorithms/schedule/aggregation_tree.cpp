#include "algorithms/schedule/aggregation_tree.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

AggregationTree::AggregationTree(std::vector<std::uint32_t> parents, std::vector<std::uint32_t> nodes_of_ranks)
    : parents_(std::move(parents)),
      node_of_(std::move(nodes_of_ranks)),
      first_child_(parents_.size() + 1),
      children_(parents_.size() + node_of_.size() - 1),
      ranks_below_(parents_.size()),
      depths_(parents_.size()) {
  require(!parents_.empty() && !node_of_.empty(), "an aggregation tree of {} nodes and {} ranks", parents_.size(),
          node_of_.size());
  parents_[kRoot] = kRoot;
  for (std::uint32_t node = 1; node < nodes(); ++node) {
    require(parents_[node] < node, "node {} of an aggregation tree below node {}", node, parents_[node]);
    ++first_child_[parents_[node] + 1];
    depths_[node] = depths_[parents_[node]] + 1;
  }
  for (const std::uint32_t node : node_of_) {
    require(node < nodes(), "a rank on node {} of {}", node, nodes());
    ++first_child_[node + 1];
    ++ranks_below_[node];
  }
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    require(first_child_[node + 1] > 0, "nothing hangs on node {} of an aggregation tree", node);
    first_child_[node + 1] += first_child_[node];
  }
  std::vector<std::uint32_t> next(first_child_.begin(), first_child_.end() - 1);
  for (std::uint32_t node = 1; node < nodes(); ++node) { children_[next[parents_[node]]++] = {false, node}; }
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) { children_[next[node_of_[rank]]++] = {true, rank}; }
  for (std::uint32_t node = nodes() - 1; node > 0; --node) { ranks_below_[parents_[node]] += ranks_below_[node]; }
}

AggregationTree AggregationTree::regular(std::uint32_t ranks, std::uint32_t arity) {
  require(ranks > 0 && arity > 1, "an aggregation tree of {} ranks and {} children a node", ranks, arity);
  std::vector<std::uint32_t> widths{(ranks - 1) / arity + 1};  // nodes on each level, the lowest first
  while (widths.back() > 1) { widths.push_back((widths.back() - 1) / arity + 1); }
  std::vector<std::uint32_t> parents{kRoot};
  std::uint32_t above = 0;  // the first node of the level above
  for (std::size_t level = widths.size() - 1; level-- > 0;) {
    const auto first = static_cast<std::uint32_t>(parents.size());
    for (std::uint32_t node = 0; node < widths[level]; ++node) { parents.push_back(above + node / arity); }
    above = first;
  }
  std::vector<std::uint32_t> nodes_of_ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) { nodes_of_ranks.push_back(above + rank / arity); }
  return {std::move(parents), std::move(nodes_of_ranks)};
}

std::uint32_t AggregationTree::depth() const {
  std::uint32_t most = 0;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) { most = std::max(most, depth(rank)); }
  return most;
}

}  // namespace athanor
