#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "algorithms/execution/mpi/mpi_call.hpp"

namespace athanor {

/// A communicator of one's own, so that its messages meet no others. Errors come back as codes. Movable nowhere.
/// To be made by all processes of `parent` alike. Throws SimulationError "mpi".
class Communicator {
 public:
  explicit Communicator(MPI_Comm parent);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm get() const { return communicator_; }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return size_; }
  /// The largest tag that the library carries.
  static std::int64_t largest_tag();
  /// Processes of it that share this one's memory, this one included.
  std::uint32_t size_of_node() const { return size_of_node_; }
  bool first_of_node() const { return first_of_node_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t size_of_node_ = 0;
  bool first_of_node_ = false;
};

/// How a process waits for what others do: for a moment it spins, then it gives the processor away at each look, and
/// it does not wait for ever.
class Backoff {
 public:
  /// `processes`: how many of them share the processors of this machine.
  Backoff(std::uint32_t processes, std::chrono::nanoseconds limit);

  /// To be called after each look, with whether there was anything. False once the time limit has passed, counted from
  /// the construction.
  bool goes_on(bool something);
  /// Has there been nothing for so long?
  bool idle_for(std::chrono::nanoseconds time) const { return looked_ - idle_since_ >= time; }

 private:
  using Clock = std::chrono::steady_clock;
  std::uint32_t spins_;
  std::uint32_t looks_ = 0;
  std::uint32_t empty_looks_ = 0;
  Clock::time_point idle_since_;
  Clock::time_point looked_;  ///< when the clock was read last
  Clock::time_point end_;
};

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
