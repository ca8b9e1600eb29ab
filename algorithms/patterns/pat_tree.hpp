#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace athanor {

/// The order in which parallel aggregated trees move blocks. Every block goes along the same binomial tree, counted
/// from its owner: the parent of place v is v without its lowest set bit. A step moves up to `aggregate` blocks over
/// one distance: the first steps, over the largest distances, double the places reached until `aggregate` of them are,
/// and then the subtrees of all these are walked side by side, one edge per step. So the last steps are many, but
/// messages and buffers stay small. One block per step: P-1 steps; P/2 blocks: log2 P.
class PatTree {
 public:
  /// In one step the places first, first + stride, ... get the block from those 2^bit before.
  struct Step {
    std::uint32_t first;
    std::uint32_t stride;
    std::uint32_t places;
    std::uint32_t bit;
  };

  /// Requires ranks >= 2 and a power of two that is at most most_aggregate().
  PatTree(std::uint32_t ranks, std::uint32_t aggregate)
      : ranks_(ranks),
        dimensions_(static_cast<std::uint32_t>(std::bit_width(ranks - 1))),
        doubling_(static_cast<std::uint32_t>(std::countr_zero(aggregate))) {}

  static std::uint32_t most_aggregate(std::uint32_t ranks) { return std::bit_floor(ranks - 1); }

  std::uint32_t dimensions() const { return dimensions_; }
  std::uint32_t steps() const { return doubling_ + std::min(subtree(), ranks_) - 1; }
  Step step(std::uint32_t number) const {
    if (number < doubling_) {
      const std::uint32_t bit = dimensions_ - 1 - number;
      return at(1U << bit, 2U << bit, bit);
    }
    const std::uint32_t first = number - doubling_ + 1;
    return at(first, subtree(), static_cast<std::uint32_t>(std::countr_zero(first)));
  }

 private:
  std::uint32_t subtree() const { return 1U << (dimensions_ - doubling_); }
  Step at(std::uint32_t first, std::uint32_t stride, std::uint32_t bit) const {
    return {first, stride, (ranks_ - first - 1) / stride + 1, bit};
  }

  std::uint32_t ranks_;
  std::uint32_t dimensions_;
  std::uint32_t doubling_;
};

}  // namespace athanor
