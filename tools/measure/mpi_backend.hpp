#pragma once

#include <memory>

#include "tools/measure/backend.hpp"

namespace athanor {

/// One rank per MPI process, under mpirun or srun: schedules by point-to-point messages
/// (algorithms/execution/mpi/mpi_executor.hpp), and the library's own collectives as "mpi_library".
///
/// An iteration begins when all processes have met in a barrier; its time is that of the slowest one, as nccl-tests and
/// the OSU benchmarks have it. Each process holds its own rank's buffers only and checks its own output.
///
/// Where run() fails in one process, that process says so on stderr and ends all of them, with exit code 1: they could
/// not be brought back into step. What no process can do is thrown in all of them alike.
class MpiBackend : public Backend {
 public:
  /// A backend of one process, such as threads, as one of all: process 0 carries it out, on all processors of its
  /// machine whatever it was bound to, while the others sleep. So both are measured in one run. Requires that this
  /// outlives its use.
  virtual std::unique_ptr<Backend> beside(std::unique_ptr<Backend> local) = 0;

  /// How long a schedule of float32 takes with 8 slots, or as many as it needs, of zeros and unchecked: of the slowest
  /// process in each of at least three iterations, after some to warm up, and of as many more as fit into `patience`;
  /// of one where they take much longer. Equal in all processes.
  virtual std::vector<std::chrono::nanoseconds> time(const Schedule& schedule, std::chrono::nanoseconds patience) = 0;
};

/// Initialises MPI, which ends with the backend; once per process. Throws UsageError where Athanor was built without
/// MPI.
std::unique_ptr<MpiBackend> make_mpi_backend();

}  // namespace athanor
