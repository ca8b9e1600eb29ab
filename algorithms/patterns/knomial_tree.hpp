#pragma once

#include <algorithm>
#include <cstdint>

namespace athanor {

/// The k-nomial tree over `ranks` ranks, of any radix from 2 on: counted from the root, the parent of v is v without
/// its lowest digit other than zero in that radix. Radix 2 is the binomial tree.
class KnomialTree {
 public:
  KnomialTree(std::uint32_t ranks, std::uint32_t root, std::uint32_t radix)
      : ranks_(ranks), root_(root), radix_(radix) {}

  bool is_root(std::uint32_t rank) const { return rank == root_; }

  /// A rank's children are i = 0 .. children(rank)-1, the reverse of the order in which it sends to them: subtrees of
  /// more levels first, and of those of one level the nearest rank.
  std::uint32_t children(std::uint32_t rank) const {
    const Levels levels = below(from_root(rank));
    return levels.full * (radix_ - 1) + levels.partial;
  }
  std::uint32_t child(std::uint32_t rank, std::uint32_t i) const {
    const std::uint32_t v = from_root(rank);
    const Levels levels = below(v);
    const std::uint32_t level = i / (radix_ - 1);
    const std::uint32_t most = level < levels.full ? radix_ - 1 : levels.partial;
    return at(v + power(level) * (most - i % (radix_ - 1)));
  }
  /// Requires a rank other than the root.
  std::uint32_t parent(std::uint32_t rank) const {
    const std::uint32_t v = from_root(rank);
    const std::uint64_t above = power(zeros(v) + 1);
    return at(v / above * above);
  }
  /// Which child of its parent a rank is. Requires a rank other than the root.
  std::uint32_t index(std::uint32_t rank) const {
    const std::uint32_t v = from_root(rank);
    const std::uint32_t level = zeros(v);
    const auto digit = static_cast<std::uint32_t>(v / power(level) % radix_);
    const Levels levels = below(from_root(parent(rank)));
    const std::uint32_t most = level < levels.full ? radix_ - 1 : levels.partial;
    return level * (radix_ - 1) + most - digit;
  }

  /// Rounds until the root has reached everyone, where a rank sends to one child in each.
  std::uint32_t rounds() const {
    std::uint32_t most = 0;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      std::uint32_t reached = 0;
      for (std::uint32_t at = rank; !is_root(at); at = parent(at)) { reached += children(parent(at)) - index(at); }
      most = std::max(most, reached);
    }
    return most;
  }

 private:
  /// Levels of children: with all that the radix allows, and how many there are on one more.
  struct Levels {
    std::uint32_t full = 0;
    std::uint32_t partial = 0;
  };
  Levels below(std::uint32_t v) const {
    const std::uint64_t others = ranks_ - 1 - v;
    Levels levels;
    std::uint64_t step = 1;
    while (v == 0 || v / step % radix_ == 0) {
      if (step * (radix_ - 1) > others) {
        levels.partial = static_cast<std::uint32_t>(others / step);
        break;
      }
      ++levels.full;
      step *= radix_;
    }
    return levels;
  }
  std::uint64_t power(std::uint32_t level) const {
    std::uint64_t result = 1;
    for (std::uint32_t i = 0; i < level; ++i) { result *= radix_; }
    return result;
  }
  /// Digits of zero below the lowest other one. Requires v > 0.
  std::uint32_t zeros(std::uint32_t v) const {
    std::uint32_t count = 0;
    for (std::uint32_t rest = v; rest % radix_ == 0; rest /= radix_) { ++count; }
    return count;
  }
  std::uint32_t from_root(std::uint32_t rank) const {
    return static_cast<std::uint32_t>((std::uint64_t{rank} + ranks_ - root_) % ranks_);
  }
  std::uint32_t at(std::uint64_t v) const { return static_cast<std::uint32_t>((v + root_) % ranks_); }

  std::uint32_t ranks_;
  std::uint32_t root_;
  std::uint32_t radix_;
};

}  // namespace athanor
