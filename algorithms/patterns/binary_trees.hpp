#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "algorithms/schedule/layout.hpp"

namespace athanor {

/// Two binary trees over the same ranks, in which nearly every rank is a leaf of one and an inner node of the other;
/// so both together load every link alike. In tree 0 a position is the rank. Position 0 is the root and has one child,
/// the greatest power of two; any other position with lowest set bit b is the parent of the positions b/2 before it
/// and b/2 after it, the latter halved until it exists. Tree 1 is the mirror image for an even number of ranks and
/// shifted by one for an odd one (as NCCL's). Requires at least two ranks.
class DoubleBinaryTree {
 public:
  explicit DoubleBinaryTree(std::uint32_t ranks) : ranks_(ranks) {}

  std::uint32_t root(std::uint32_t tree) const { return rank_at(tree, 0); }
  bool is_root(std::uint32_t tree, std::uint32_t rank) const { return root(tree) == rank; }
  /// At most 2.
  std::uint32_t children(std::uint32_t tree, std::uint32_t rank) const;
  std::uint32_t child(std::uint32_t tree, std::uint32_t rank, std::uint32_t i) const;
  /// Requires a rank other than the root.
  std::uint32_t parent(std::uint32_t tree, std::uint32_t rank) const;
  /// Which child of its parent a rank is. Requires a rank other than the root.
  std::uint32_t index(std::uint32_t tree, std::uint32_t rank) const;
  /// Of both trees: hops from the root to the farthest leaf.
  std::uint32_t depth() const;

 private:
  std::uint32_t position(std::uint32_t tree, std::uint32_t rank) const;
  std::uint32_t rank_at(std::uint32_t tree, std::uint32_t position) const;
  std::uint32_t parent_position(std::uint32_t position) const;
  /// How far after an inner position its second child is, or 0.
  std::uint32_t second_child_distance(std::uint32_t position) const;

  std::uint32_t ranks_;
};

/// One tree over all ranks for each channel, as NCCL's: the ranks of a group form a chain in the channel's order
/// (RingOrder), and the first of each chain hangs below another group, as the double binary tree over the groups says:
/// below place tree_heads[0] or [1] of that group's chain, for its first and second child; the only child of a root is
/// a second one. Channels take tree 0 and tree 1 in turn, or, where the layout has n orders, n channels each.
class ChainTrees {
 public:
  /// Requires a layout that invalid() accepts.
  ChainTrees(std::uint32_t ranks, const Layout& layout);

  std::uint32_t groups() const { return groups_; }
  std::uint32_t root(std::uint32_t channel) const;
  /// Whether a rank may be the root of some channel; others are of none.
  bool in_root_group(std::uint32_t rank) const;
  /// At most 3: the next in the chain, and then the first of other groups' chains, in order.
  std::uint32_t children(std::uint32_t channel, std::uint32_t rank) const;
  std::uint32_t child(std::uint32_t channel, std::uint32_t rank, std::uint32_t i) const;
  /// Requires a rank other than the root.
  std::uint32_t parent(std::uint32_t channel, std::uint32_t rank) const;
  /// Which child of its parent a rank is. Requires a rank other than the root.
  std::uint32_t index(std::uint32_t channel, std::uint32_t rank) const;
  /// Hops from the root to the farthest rank.
  std::uint32_t depth() const;

 private:
  /// Where a rank is in the channel's tree.
  struct Seat {
    std::uint32_t tree = 0;
    std::uint32_t group = 0;
    std::uint32_t place = 0;  ///< in the chain
  };
  Seat seat(std::uint32_t channel, std::uint32_t rank) const;
  std::uint32_t rank_at(std::uint32_t channel, std::uint32_t group, std::uint32_t place) const {
    return order_.rank(channel, group * length_ + place);
  }
  bool has_next(const Seat& seat) const { return seat.place + 1 < length_; }
  /// Is there a child group in that place among the group's two (0 or 1), and does it attach to the seat?
  bool holds(const Seat& seat, std::uint32_t slot) const;
  /// Which of its parent's two child groups a group is.
  std::uint32_t slot(std::uint32_t tree, std::uint32_t group) const;

  RingOrder order_;
  std::uint32_t length_;  ///< of a chain
  std::uint32_t groups_;
  std::uint32_t ways_;  ///< channels that follow each other in one tree
  std::array<std::uint32_t, 2> heads_{};
  DoubleBinaryTree trees_;  ///< over the groups; of no meaning where there is one
};

}  // namespace athanor
