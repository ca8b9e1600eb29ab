#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/software/thread_costs.hpp"
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

/// A range of addresses, in bytes, that a primitive goes through from one end to the other.
struct Access {
  std::int64_t first = 0;
  std::int64_t end = 0;
  bool reads = false;
  bool writes = false;
};

/// Which bytes lie in the caches of which processor, and what it takes to get at them.
///
/// A cache keeps what its processor has touched most recently: all of it where less than 3/4 of its size was touched
/// since, nothing where more than 3/2 were, and in between in proportion. A processor's bytes come from the nearest
/// level that keeps them; else, where another processor wrote them last, from its caches; else from the shared levels
/// and from memory. A byte costs the same whether it is read or written: a line that is written is fetched before, and
/// goes back after, while the next is fetched. Writing takes the line from all others.
class Caches {
 public:
  /// Borrows the costs.
  Caches(const ThreadCosts& costs, std::uint32_t processors);

  /// How long the processor takes for all accesses, side by side, and what it changes. Requires ranges that do not
  /// overlap, or coincide.
  Time access(std::uint32_t processor, std::span<const Access> accesses);
  /// As much again from the nearest cache: bytes that have just been touched.
  Time again(Bytes bytes) const;

 private:
  struct Segment {
    std::int64_t end = 0;
    std::vector<LruOrder::Stamp> stamps;        ///< of each processor that holds a valid copy
    LruOrder::Stamp anyone = LruOrder::kNever;  ///< of whoever touched it last
    std::uint32_t writer = 0xffffffff;          ///< the last one; nobody: not written yet
  };
  using Segments = std::map<std::int64_t, Segment>;  ///< by first address; without gaps once touched

  Segments::iterator cut(std::int64_t at);
  void cover(std::int64_t first, std::int64_t end);
  Time price(std::uint32_t processor, const Segment& segment, Bytes bytes, bool writes, bool& remote) const;
  void mark(std::uint32_t processor, Segment& segment, Bytes bytes, bool writes);
  Time from_private(std::uint32_t owner, LruOrder::Stamp stamp, bool remote, Bytes bytes, Bytes& left) const;
  Time from_shared(const Segment& segment, Bytes left) const;

  const ThreadCosts& costs_;
  std::uint32_t processors_;
  Segments segments_;
  std::vector<LruOrder> recency_;  ///< of each processor
  LruOrder anyone_;
};

}  // namespace athanor
