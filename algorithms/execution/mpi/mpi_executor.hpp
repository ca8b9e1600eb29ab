#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "algorithms/execution/engine_arithmetic.hpp"
#include "algorithms/execution/mpi/communicator.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

struct MpiExecutionRequest {
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  RankBuffers buffers;                 ///< of this process's rank, as large as Schedule::memory says
  std::optional<std::uint32_t> slots;  ///< per connection, at least what the schedule needs; else least_slots()
  std::chrono::nanoseconds time_limit = std::chrono::minutes{1};  ///< for one iteration
  EngineArithmetic engines = {};  ///< how agents beyond the ranks combine what they take in
};

/// A schedule carried out by MPI point-to-point: rank r by process r of the communicator, in one thread, its lanes side
/// by side. Engines are emulated: engine e (agent ranks + e) by process e % ranks, like a rank but for its arithmetic.
/// A process that has nothing to do yields its processor.
///
/// All processes make and run the same executions in the same order; each holds only its own rank's buffers. The
/// schedule is checked for what could touch foreign memory, not proven: its wiring as a whole, and the primitives of
/// this process's agents, so that the work does not grow with all ranks' primitives.
class MpiExecution {
 public:
  /// Requires that communicator, schedule and buffers outlive this. Throws UsageError where the ranks are not the
  /// processes, the slots are too few or engines cannot do the arithmetic, SimulationError where the schedule cannot be
  /// carried out: for its wiring in all processes alike, for a primitive in the process whose it is.
  MpiExecution(const Communicator& communicator, const Schedule& schedule, const MpiExecutionRequest& request);
  ~MpiExecution();
  MpiExecution(const MpiExecution&) = delete;
  MpiExecution& operator=(const MpiExecution&) = delete;

  /// The whole schedule once, as long as it takes this process: from the call until its last primitive has ended and
  /// its last send is done. Other processes may begin and end at other times.
  ///
  /// Throws SimulationError where the time limit passes ("time-limit": this process's lanes that have not ended, and
  /// who they wait for), two ends of a connection disagree ("matching") or MPI fails ("mpi"). The processes are then
  /// out of step for good, and messages may still be written into the buffers: all that is left is MPI_Abort.
  std::chrono::nanoseconds run();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace athanor
