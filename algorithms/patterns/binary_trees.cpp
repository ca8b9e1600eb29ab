#include "algorithms/patterns/binary_trees.hpp"

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

ChainTrees::ChainTrees(std::uint32_t ranks, const Layout& layout)
    : order_(ranks, layout),
      length_(layout.group == 0 ? ranks : layout.group),
      groups_(ranks / length_),
      ways_(layout.orders == nullptr ? 1 : static_cast<std::uint32_t>(layout.orders->even.size())),
      trees_(groups_) {
  for (std::uint32_t i = 0; i < 2; ++i) {
    heads_.at(i) = std::min(layout.as<ChainTreeShape>().heads.at(i), length_ - 1);
  }
}

std::uint32_t ChainTrees::root(std::uint32_t channel) const {
  return rank_at(channel, groups_ == 1 ? 0 : trees_.root(channel / ways_ % 2), 0);
}

bool ChainTrees::in_root_group(std::uint32_t rank) const {
  const std::uint32_t group = rank / length_;
  return groups_ == 1 || trees_.is_root(0, group) || trees_.is_root(1, group);
}

ChainTrees::Seat ChainTrees::seat(std::uint32_t channel, std::uint32_t rank) const {
  return {channel / ways_ % 2, rank / length_, order_.position(channel, rank) % length_};
}

bool ChainTrees::holds(const Seat& seat, std::uint32_t slot) const {
  if (groups_ == 1 || heads_.at(slot) != seat.place) { return false; }
  if (trees_.is_root(seat.tree, seat.group)) { return slot == 1; }
  return slot < trees_.children(seat.tree, seat.group);
}

std::uint32_t ChainTrees::slot(std::uint32_t tree, std::uint32_t group) const {
  return trees_.is_root(tree, trees_.parent(tree, group)) ? 1 : trees_.index(tree, group);
}

std::uint32_t ChainTrees::children(std::uint32_t channel, std::uint32_t rank) const {
  const Seat here = seat(channel, rank);
  return (has_next(here) ? 1U : 0U) + (holds(here, 0) ? 1U : 0U) + (holds(here, 1) ? 1U : 0U);
}

std::uint32_t ChainTrees::child(std::uint32_t channel, std::uint32_t rank, std::uint32_t i) const {
  const Seat here = seat(channel, rank);
  if (i == 0 && has_next(here)) { return rank_at(channel, here.group, here.place + 1); }
  const std::uint32_t among_groups = i - (has_next(here) ? 1 : 0);
  const std::uint32_t slot = among_groups == 0 && holds(here, 0) ? 0 : 1;
  const std::uint32_t number = trees_.is_root(here.tree, here.group) ? 0 : slot;
  return rank_at(channel, trees_.child(here.tree, here.group, number), 0);
}

std::uint32_t ChainTrees::parent(std::uint32_t channel, std::uint32_t rank) const {
  const Seat here = seat(channel, rank);
  if (here.place > 0) { return rank_at(channel, here.group, here.place - 1); }
  return rank_at(channel, trees_.parent(here.tree, here.group), heads_.at(slot(here.tree, here.group)));
}

std::uint32_t ChainTrees::index(std::uint32_t channel, std::uint32_t rank) const {
  const Seat here = seat(channel, rank);
  if (here.place > 0) { return 0; }
  const std::uint32_t slot = this->slot(here.tree, here.group);
  const Seat above{here.tree, trees_.parent(here.tree, here.group), heads_.at(slot)};
  return (has_next(above) ? 1U : 0U) + (slot == 1 && holds(above, 0) ? 1U : 0U);
}

std::uint32_t ChainTrees::depth() const {
  std::uint32_t deepest = 0;
  for (std::uint32_t group = 0; groups_ > 1 && group < groups_; ++group) {
    std::uint32_t hops = 0;
    for (std::uint32_t here = group; !trees_.is_root(0, here); here = trees_.parent(0, here)) {
      hops += 1 + heads_.at(slot(0, here));
    }
    deepest = std::max(deepest, hops);
  }
  return deepest + length_ - 1;
}

}  // namespace athanor
