#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace athanor {

/// Which of things that are numbered from 0 belong together, joined pair by pair.
class DisjointGroups {
 public:
  explicit DisjointGroups(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }

  /// The lowest of those that belong together with it.
  std::uint32_t of(std::size_t thing) const {
    auto at = static_cast<std::uint32_t>(thing);
    while (parent_[at] != at) { at = parent_[at] = parent_[parent_[at]]; }
    return at;
  }
  void join(std::size_t a, std::size_t b) { parent_[std::max(of(a), of(b))] = std::min(of(a), of(b)); }

 private:
  mutable std::vector<std::uint32_t> parent_;  ///< ways to the lowest become shorter as they are gone
};

}  // namespace athanor
