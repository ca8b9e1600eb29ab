#pragma once

// The C++ bindings that old MPI libraries still bring along.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace athanor {

/// Throws SimulationError "mpi" with the library's own words where a call of it has failed.
void check_mpi(int code, const char* call);

}  // namespace athanor
