#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace athanor {

/// The binomial tree over `ranks` ranks: counted from the root, the parent of v is v without its lowest set bit.
class BinomialTree {
 public:
  BinomialTree(std::uint32_t ranks, std::uint32_t root) : ranks_(ranks), root_(root) {}

  /// Rounds until the root has reached everyone: ceil(log2 ranks).
  std::uint32_t rounds() const { return static_cast<std::uint32_t>(std::bit_width(ranks_ - 1)); }
  /// Hops from the root to the farthest rank: floor(log2 ranks).
  std::uint32_t depth() const { return static_cast<std::uint32_t>(std::bit_width(ranks_)) - 1; }
  bool is_root(std::uint32_t rank) const { return rank == root_; }

  /// A rank's children are i = 0 .. children(rank)-1, the smallest subtree first.
  std::uint32_t children(std::uint32_t rank) const {
    const std::uint32_t v = from_root(rank);
    const std::uint32_t inside = static_cast<std::uint32_t>(std::bit_width(ranks_ - 1 - v));
    return v == 0 ? inside : std::min(inside, static_cast<std::uint32_t>(std::countr_zero(v)));
  }
  std::uint32_t child(std::uint32_t rank, std::uint32_t i) const {
    return at((from_root(rank) + (1ULL << i)) % ranks_);
  }
  /// Requires a rank other than the root.
  std::uint32_t parent(std::uint32_t rank) const { return at(from_root(rank) & (from_root(rank) - 1)); }
  /// Which child of its parent a rank is. Requires a rank other than the root.
  std::uint32_t index(std::uint32_t rank) const {
    return static_cast<std::uint32_t>(std::countr_zero(from_root(rank)));
  }

 private:
  std::uint32_t from_root(std::uint32_t rank) const {
    return static_cast<std::uint32_t>((std::uint64_t{rank} + ranks_ - root_) % ranks_);
  }
  std::uint32_t at(std::uint64_t v) const { return static_cast<std::uint32_t>((v + root_) % ranks_); }

  std::uint32_t ranks_;
  std::uint32_t root_;
};

}  // namespace athanor
