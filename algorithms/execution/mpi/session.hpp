#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

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

/// Ends all processes when a call of MPI that cannot be left, such as MPI_Allreduce, takes longer than its limit: a
/// thread that looks ten times a second, and then prints and calls MPI_Abort.
class Watchdog {
 public:
  /// `message`: what is printed, as MpiSession::abort does, with the limit.
  explicit Watchdog(std::string message);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From now on, until rest().
  void watch(std::chrono::nanoseconds limit);
  void rest();

 private:
  using Clock = std::chrono::steady_clock;
  void guard();

  std::string message_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::optional<Clock::time_point> deadline_;
  std::chrono::nanoseconds limit_{0};
  std::thread thread_;
};

}  // namespace athanor
