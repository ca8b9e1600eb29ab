#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace athanor {

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
