#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "algorithms/execution/mpi/communicator.hpp"

namespace athanor {

// What all processes of a communicator do together, and not for ever: each throws SimulationError "time-limit" where
// the others have not come within the limit.

/// Returns when all have come.
void barrier(const Communicator& communicator, std::chrono::nanoseconds limit);

/// As barrier(), but sleeps meanwhile, so that a process that works alone has all processors of its machine.
void sleeping_barrier(const Communicator& communicator, std::chrono::nanoseconds limit);

/// Each value becomes the largest of all processes.
void reduce_to_largest(const Communicator& communicator, std::span<std::int64_t> values,
                       std::chrono::nanoseconds limit);

/// The bytes become those of one process.
void broadcast(const Communicator& communicator, std::uint32_t root, std::span<std::byte> bytes,
               std::chrono::nanoseconds limit);

}  // namespace athanor
