#pragma once

#include <bit>
#include <cstdint>

namespace athanor {

/// Exchanges along the dimensions of a hypercube, for any number of ranks: the greatest power of two of them are its
/// corners. Each rank beyond gives its input to the corner with the same low bits, and gets the result from it.
/// Requires at least two ranks.
class FoldedCube {
 public:
  explicit FoldedCube(std::uint32_t ranks)
      : ranks_(ranks), dimensions_(static_cast<std::uint32_t>(std::bit_width(ranks)) - 1) {}

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t dimensions() const { return dimensions_; }
  std::uint32_t corners() const { return 1U << dimensions_; }
  bool folds() const { return ranks_ > corners(); }
  bool is_corner(std::uint32_t rank) const { return rank < corners(); }
  /// Is this the corner of a rank beyond?
  bool serves(std::uint32_t rank) const { return is_corner(rank) && rank + corners() < ranks_; }
  /// 0: a corner by itself, 1: one that serves, 2: beyond.
  std::uint32_t role(std::uint32_t rank) const { return is_corner(rank) ? (serves(rank) ? 1 : 0) : 2; }

 private:
  std::uint32_t ranks_;
  std::uint32_t dimensions_;
};

}  // namespace athanor
