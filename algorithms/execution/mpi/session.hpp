#pragma once

#include <string>
#include <string_view>

#include "algorithms/execution/mpi/mpi_call.hpp"

namespace athanor {

/// MPI, from its initialisation to its end; once per process. Only the thread that makes it may call MPI.
class MpiSession {
 public:
  MpiSession();
  /// Ends MPI together with the other processes. Where an exception ends this process and not the others, MPI is left
  /// as it is after a moment: the exit of the process, after its message, then makes mpirun end the others.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// "Open MPI v4.1.4, ...": the first line of what the library says of itself.
  static std::string library();

  /// Prints "athanor: error: MPI process 3: MESSAGE" to stderr and ends all processes, with exit code 1.
  [[noreturn]] static void abort(std::string_view message);
};

}  // namespace athanor
