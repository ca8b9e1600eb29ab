#include "algorithms/patterns/double_binary_tree.hpp"

#include <algorithm>
#include <bit>

namespace athanor {

namespace {

std::uint32_t lowest_bit(std::uint32_t position) { return position & (~position + 1); }

}  // namespace

std::uint32_t DoubleBinaryTree::position(std::uint32_t tree, std::uint32_t rank) const {
  if (tree == 0) { return rank; }
  return ranks_ % 2 == 0 ? ranks_ - 1 - rank : (rank + ranks_ - 1) % ranks_;
}

std::uint32_t DoubleBinaryTree::rank_at(std::uint32_t tree, std::uint32_t position) const {
  if (tree == 0) { return position; }
  return ranks_ % 2 == 0 ? ranks_ - 1 - position : (position + 1) % ranks_;
}

std::uint32_t DoubleBinaryTree::parent_position(std::uint32_t position) const {
  const std::uint32_t bit = lowest_bit(position);
  const std::uint64_t above = (position ^ bit) | std::uint64_t{bit} << 1U;
  return above < ranks_ ? static_cast<std::uint32_t>(above) : position ^ bit;
}

std::uint32_t DoubleBinaryTree::second_child_distance(std::uint32_t position) const {
  std::uint32_t distance = lowest_bit(position) / 2;
  while (distance > 0 && distance >= ranks_ - position) { distance /= 2; }
  return distance;
}

std::uint32_t DoubleBinaryTree::children(std::uint32_t tree, std::uint32_t rank) const {
  const std::uint32_t here = position(tree, rank);
  if (here == 0) { return 1; }
  if (lowest_bit(here) == 1) { return 0; }
  return second_child_distance(here) > 0 ? 2 : 1;
}

std::uint32_t DoubleBinaryTree::child(std::uint32_t tree, std::uint32_t rank, std::uint32_t i) const {
  const std::uint32_t here = position(tree, rank);
  if (here == 0) { return rank_at(tree, std::bit_floor(ranks_ - 1)); }
  return rank_at(tree, i == 0 ? here - lowest_bit(here) / 2 : here + second_child_distance(here));
}

std::uint32_t DoubleBinaryTree::parent(std::uint32_t tree, std::uint32_t rank) const {
  return rank_at(tree, parent_position(position(tree, rank)));
}

std::uint32_t DoubleBinaryTree::index(std::uint32_t tree, std::uint32_t rank) const {
  const std::uint32_t here = position(tree, rank);
  const std::uint32_t above = parent_position(here);
  return above != 0 && here > above ? 1 : 0;
}

std::uint32_t DoubleBinaryTree::depth() const {
  std::uint32_t deepest = 0;
  for (std::uint32_t leaf = 1; leaf < ranks_; leaf += 2) {
    std::uint32_t hops = 0;
    for (std::uint32_t here = leaf; here != 0; here = parent_position(here)) { ++hops; }
    deepest = std::max(deepest, hops);
  }
  return deepest;
}

}  // namespace athanor
