#include "sim/error.hpp"
#include "tools/measure/mpi_backend.hpp"

namespace athanor {

std::unique_ptr<MpiBackend> make_mpi_backend() {
  throw UsageError(
      "this athanor was built without MPI; install an MPI library (libopenmpi-dev openmpi-bin on Debian) and build it "
      "anew");
}

}  // namespace athanor
