#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/jobs/job.hpp"

namespace athanor {

/// Where a job stands among those that wait: lower keys first, then as they were submitted.
struct Turn {
  std::int64_t key = 0;
  JobId job;

  auto operator<=>(const Turn&) const = default;
};

/// Turns in their order, in blocks each of which knows the job that is expected to be over soonest: among 100,000 jobs
/// the next short one is found without a look at the long ones before it.
class TurnList {
 public:
  /// Of a turn; void once something is added or removed.
  struct Place {
    std::uint32_t block = 0;
    std::uint32_t index = 0;
  };

  bool empty() const { return blocks_.empty(); }
  /// Requires !empty().
  Turn first() const { return blocks_.front().entries.front().turn; }
  Turn at(Place place) const { return blocks_[place.block].entries[place.index].turn; }
  /// The first from `from` on that is expected to run at most so long.
  std::optional<Place> next(Place from, WallTime most) const;

  /// Requires that it is not there.
  void add(Turn turn, WallTime expected);
  /// Requires that it is there.
  void remove(Turn turn);

 private:
  struct Entry {
    Turn turn;
    WallTime expected;
  };
  struct Block {
    std::vector<Entry> entries;                 ///< at least one
    WallTime least_expected = WallTime::max();  ///< of all entries
  };
  static constexpr std::size_t kMost = 128;  ///< entries of a block

  /// The last block that begins at the turn or before it, else the first.
  std::vector<Block>::iterator block_of(Turn turn);
  static void measure(Block& block);

  std::vector<Block> blocks_;
};

}  // namespace athanor
