#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/sweep/workers.hpp"

namespace athanor {

std::unique_ptr<SweepWorkers> sweep_workers() {
  if (launched_processes() > 1) {
    throw UsageError(
        fmt::format("sweep: {} processes were started, and this athanor was built without MPI; install an MPI library "
                    "(libopenmpi-dev openmpi-bin on Debian) and build it anew, or start one process with --jobs",
                    launched_processes()));
  }
  return std::make_unique<LoneWorker>();
}

}  // namespace athanor
