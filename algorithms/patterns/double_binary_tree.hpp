#pragma once

#include <cstdint>

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

}  // namespace athanor
