#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/formats/table_schedule.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// A small schedule drawn by hand, step by step: what probes are made of.
class ScheduleBuilder {
 public:
  /// Chunks that the buffers of each rank hold.
  explicit ScheduleBuilder(std::uint32_t ranks, TableMemory memory = {}) : memories_(ranks, memory), lanes_(ranks) {}

  /// A new lane of the rank; its number.
  std::uint32_t lane(std::uint32_t rank);
  /// Joins a new out-port of one lane to a new in-port of another, each named by its rank and lane.
  void connect(std::uint32_t from, std::uint32_t from_lane, std::uint32_t to, std::uint32_t to_lane);
  void step(std::uint32_t rank, std::uint32_t lane, const TableStep& step) { lanes_[rank][lane].steps.push_back(step); }

  std::shared_ptr<const Table> table(std::uint32_t slots) const;
  /// As a schedule whose chunks are so many bytes of float32.
  std::unique_ptr<const Schedule> stretched(std::int64_t chunk, std::uint32_t slots = 1) const;

 private:
  struct LaneDraft {
    std::vector<TableStep> steps;
    std::vector<Endpoint> sources;
    std::vector<Endpoint> targets;
  };
  std::vector<TableMemory> memories_;
  std::vector<std::vector<LaneDraft>> lanes_;
};

/// Schedules that each show one cost of the threads executor. Elements are float32.

/// One rank goes so many times over a working set of so many bytes, half of which it copies to the other half.
std::unique_ptr<const Schedule> copying(std::int64_t working_set, std::uint32_t passes);

/// Two ranks. Rank 0 sends so many empty messages, as fast as it can, and has a slot for each.
std::unique_ptr<const Schedule> stream(std::uint32_t messages);

/// Two ranks. An empty message goes from rank to rank so many times.
std::unique_ptr<const Schedule> ping_pong(std::uint32_t hops);

/// Two ranks. In each round rank 0 fills a block of its memory, rank 1 copies it to its own and answers with an empty
/// message.
std::unique_ptr<const Schedule> fetching(std::uint32_t rounds, std::int64_t bytes);

/// Two ranks. In each round rank 0 copies 32 KiB within its own memory so many times, and then exchanges empty messages
/// with rank 1, which has waited.
std::unique_ptr<const Schedule> working_and_calling(std::uint32_t rounds, std::uint32_t copies);

// Schedules of so many ranks, of which few do something that shows one cost: of messages, copies and sums. Elements are
// float32, bytes whole elements.

/// A message of so many bytes goes from rank 0 to rank 1, back, and so on, so many times.
std::unique_ptr<const Schedule> carrying(std::uint32_t ranks, std::uint32_t hops, std::int64_t bytes);

/// Rank 0 sends so many messages to rank 1, as fast as slots become free, of which there are as many.
std::unique_ptr<const Schedule> pouring(std::uint32_t ranks, std::uint32_t messages, std::int64_t bytes);

/// As pouring(), and rank 1 to rank 0 at the same time, by lanes of their own.
std::unique_ptr<const Schedule> exchanging(std::uint32_t ranks, std::uint32_t messages, std::int64_t bytes);

/// The first `active` ranks go so many times over a working set of so many bytes each, half of which they copy to the
/// other half.
std::unique_ptr<const Schedule> copying_side_by_side(std::uint32_t ranks, std::uint32_t active,
                                                     std::int64_t working_set, std::uint32_t passes);

/// Rank 0 adds so many bytes to as many others, and stores the sum in a third place, so many times.
std::unique_ptr<const Schedule> summing(std::uint32_t ranks, std::int64_t bytes, std::uint32_t passes);

}  // namespace athanor
