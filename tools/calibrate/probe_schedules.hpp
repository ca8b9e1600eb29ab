#pragma once

#include <cstdint>
#include <memory>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

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

}  // namespace athanor
