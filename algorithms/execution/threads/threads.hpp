#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/execution/engine_arithmetic.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

struct ExecutionRequest {
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::vector<RankBuffers> buffers;      ///< of every rank, as large as Schedule::memory says, aligned to elements
  std::optional<std::uint32_t> workers;  ///< at most one per agent; else one per rank, but not more than processors
  std::optional<std::uint32_t> slots;    ///< per connection; else least_slots()
  std::chrono::nanoseconds time_limit = std::chrono::minutes{1};  ///< for one iteration
  /// May messages refer to memory of the sender that nothing overwrites any more, or is each copied into its slot?
  bool messages_may_refer = true;
  /// Does each worker stay on a processor of its own, where there are enough? Times are then far more regular; but
  /// executions that run side by side would meet on the same processors.
  bool pinned = false;
  EngineArithmetic engines = {};  ///< how agents beyond the ranks combine what they take in
};

struct ExecutionResult {
  std::vector<std::chrono::nanoseconds> durations;  ///< of each iteration
  std::uint32_t workers = 0;
};

/// A schedule on the memory of this process, carried out by worker threads. Workers take lanes that can go on, no lane
/// has a thread of its own; the lanes of an agent are always carried out by the same worker, agent a by worker
/// a % workers. Engines are emulated like ranks, but for their arithmetic. An idle worker spins for a moment and then
/// sleeps.
///
/// The schedule is checked for what could touch foreign memory, not proven; a schedule that computes the wrong thing
/// does so here too.
class PreparedExecution {
 public:
  /// Allocates all that run() needs. Requires that the schedule outlives this, and buffers that fit it. Throws
  /// SimulationError where wiring or primitives are wrong, UsageError where engines cannot do the arithmetic.
  PreparedExecution(const Schedule& schedule, ExecutionRequest request);
  ~PreparedExecution();
  PreparedExecution(const PreparedExecution&) = delete;
  PreparedExecution& operator=(const PreparedExecution&) = delete;

  /// The whole schedule, so many times one after the other. An iteration is timed from the moment when all workers
  /// stand ready until the last primitive has ended.
  ///
  /// Throws SimulationError where the schedule deadlocks ("deadlock": who waits for whom), two ends of a connection
  /// disagree ("matching") or the time limit passes ("time-limit": the lanes that have not ended); and passes on what
  /// a worker threw. Buffers then hold anything; the next run() starts afresh.
  ExecutionResult run(std::uint32_t iterations = 1);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// Prepares and runs once.
ExecutionResult run_on_threads(const Schedule& schedule, const ExecutionRequest& request);

}  // namespace athanor
