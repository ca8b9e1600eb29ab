#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace athanor {

/// Who adds up what in a network: a tree of aggregation nodes (switches that reduce and multicast) with the ranks as
/// its leaves. Node 0 is the root.
class AggregationTree {
 public:
  static constexpr std::uint32_t kRoot = 0;
  /// What hangs on a node: a rank, or another node.
  struct Child {
    bool is_rank = false;
    std::uint32_t number = 0;
    bool operator==(const Child&) const = default;
  };

  /// `parents`: of each node, whose number is smaller; that of the root does not count. `nodes_of_ranks`: the node that
  /// each rank hangs on. Requires at least one node, and that something hangs on each.
  AggregationTree(std::vector<std::uint32_t> parents, std::vector<std::uint32_t> nodes_of_ranks);

  /// The shape where nobody knows the network: every `arity` successive ranks, or nodes, under one node. Requires
  /// ranks > 0 and arity > 1.
  static AggregationTree regular(std::uint32_t ranks, std::uint32_t arity);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(node_of_.size()); }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(parents_.size()); }
  std::uint32_t parent(std::uint32_t node) const { return parents_[node]; }
  std::uint32_t node_of(std::uint32_t rank) const { return node_of_[rank]; }
  /// Nodes first, each kind in ascending order.
  std::span<const Child> children(std::uint32_t node) const {
    return {children_.data() + first_child_[node], children_.data() + first_child_[node + 1]};
  }
  /// Ranks below a node.
  std::uint32_t ranks_below(std::uint32_t node) const { return ranks_below_[node]; }
  bool operator==(const AggregationTree&) const = default;
  /// Messages from a rank to the root.
  std::uint32_t depth(std::uint32_t rank) const { return depths_[node_of_[rank]] + 1; }
  /// Of the rank that is farthest away.
  std::uint32_t depth() const;

 private:
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> node_of_;
  std::vector<std::uint32_t> first_child_;  ///< by node, into `children_`; one more at the end
  std::vector<Child> children_;
  std::vector<std::uint32_t> ranks_below_;
  std::vector<std::uint32_t> depths_;  ///< by node; the root's is 0
};

}  // namespace athanor
