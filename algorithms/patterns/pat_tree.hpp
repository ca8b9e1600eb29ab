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

  /// The power of two from half of the ranks on.
  static std::uint32_t most_aggregate(std::uint32_t ranks) { return std::bit_ceil(std::max(1U, ranks / 2)); }

  std::uint32_t dimensions() const { return dimensions_; }
  std::uint32_t doubling() const { return doubling_; }
  std::uint32_t steps() const { return doubling_ + std::min(subtree(), ranks_) - 1; }
  Step step(std::uint32_t number) const {
    if (number < doubling_) {
      const std::uint32_t bit = dimensions_ - 1 - number;
      return at(1U << bit, 2U << bit, bit);
    }
    const std::uint32_t first = number - doubling_ + 1;
    return at(first, subtree(), static_cast<std::uint32_t>(std::countr_zero(first)));
  }

  /// Steps after the first doubling() reach two numbers of places: the first of them `long_steps`, with one place more.
  std::uint32_t long_steps() const { return (ranks_ - 1) % subtree(); }
  std::uint32_t subtree() const { return 1U << (dimensions_ - doubling_); }

 private:
  Step at(std::uint32_t first, std::uint32_t stride, std::uint32_t bit) const {
    return {first, stride, (ranks_ - first - 1) / stride + 1, bit};
  }

  std::uint32_t ranks_;
  std::uint32_t dimensions_;
  std::uint32_t doubling_;
};

/// The messages of a tree's steps, of at most so many blocks each: one for every step, or several that follow each
/// other over its distance. A rank sends those of a step, then receives as many.
class PatMessages {
 public:
  struct Place {
    std::uint32_t step = 0;
    std::uint32_t message = 0;  ///< of the step
    bool first_half = true;
  };

  PatMessages(const PatTree& tree, std::uint32_t blocks) : tree_(tree), blocks_(blocks) {}

  std::uint32_t of(std::uint32_t step) const { return (tree_.step(step).places + blocks_ - 1) / blocks_; }
  std::uint32_t all() const { return before(tree_.steps()); }
  /// Of the steps before this one.
  std::uint32_t before(std::uint32_t step) const {
    std::uint32_t sum = 0;
    const std::uint32_t doubling = std::min(step, tree_.doubling());
    for (std::uint32_t s = 0; s < doubling; ++s) { sum += of(s); }
    if (step <= doubling) { return sum; }
    const std::uint32_t rest = step - doubling;
    const std::uint32_t longer = std::min(rest, tree_.long_steps());
    if (longer > 0) { sum += longer * of(doubling); }
    return longer < rest ? sum + (rest - longer) * of(step - 1) : sum;
  }
  /// Of a rank's `number`-th message, sent or received. Requires number < 2 * all().
  Place at(std::uint32_t number) const {
    std::uint32_t low = 0;
    std::uint32_t high = tree_.steps();
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (2 * before(middle) <= number ? low : high) = middle;
    }
    const std::uint32_t inside = number - 2 * before(low);
    const std::uint32_t half = of(low);
    return {low, inside % half, inside < half};
  }
  /// The same where steps and their messages come in reverse.
  Place backwards(std::uint32_t number) const {
    Place place = at(2 * all() - 1 - number);
    place.message = of(place.step) - 1 - place.message;
    place.first_half = !place.first_half;
    return place;
  }
  /// The places of that message of a step.
  PatTree::Step part(const Place& place) const {
    PatTree::Step step = tree_.step(place.step);
    const std::uint32_t first = place.message * blocks_;
    step.first += first * step.stride;
    step.places = std::min(blocks_, step.places - first);
    return step;
  }

 private:
  PatTree tree_;
  std::uint32_t blocks_;
};

}  // namespace athanor
