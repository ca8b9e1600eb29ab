#pragma once

#include <cstdint>
#include <memory>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

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
