#include "algorithms/execution/mpi/watchdog.hpp"

#include <utility>

#include <fmt/core.h>

#include "algorithms/execution/mpi/session.hpp"

namespace athanor {

Watchdog::Watchdog(std::string message) : message_(std::move(message)), thread_([this] { guard(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Watchdog::watch(std::chrono::nanoseconds limit) {
  const std::lock_guard lock(mutex_);
  limit_ = limit;
  deadline_ = Clock::now() + limit;
}

void Watchdog::rest() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

void Watchdog::guard() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::milliseconds{100}, [this] { return end_; })) {
    if (!deadline_ || Clock::now() < *deadline_) { continue; }
    const std::chrono::duration<double> seconds = limit_;
    MpiSession::abort(fmt::format("not ended after {:g} s: {}", seconds.count(), message_));
  }
}

}  // namespace athanor
