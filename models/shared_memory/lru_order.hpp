#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.hpp"

namespace athanor {

/// When pieces of memory were touched last, and how much was touched since: the stack distance, which decides what a
/// cache that drops the least recently used still keeps. Costs O(log touches) each.
class LruOrder {
 public:
  using Stamp = std::uint64_t;
  static constexpr Stamp kNever = 0;

  /// Bytes that were touched last at `stamp` are touched now: a newer stamp than all others. kNever: for the first
  /// time.
  Stamp touch(Stamp stamp, Bytes bytes);
  /// Those bytes are not kept any more. Requires that they were touched at `stamp`.
  void drop(Stamp stamp, Bytes bytes);
  /// Distinct bytes touched at `stamp` or later. Requires a stamp that touch() has given.
  Bytes since(Stamp stamp) const;

 private:
  void add(Stamp stamp, std::int64_t bytes);
  void grow();

  Stamp last_ = kNever;
  std::int64_t total_ = 0;
  std::vector<std::int64_t> bytes_ = std::vector<std::int64_t>(1);  ///< by stamp
  std::vector<std::int64_t> tree_ = std::vector<std::int64_t>(1);   ///< sums of them, as Fenwick (1994) has it
};

}  // namespace athanor
