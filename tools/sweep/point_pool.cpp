#include "tools/sweep/point_pool.hpp"

#include <algorithm>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

namespace {

constexpr std::size_t kMostWaiting = 256;

}  // namespace

PointPool::PointPool(const SweepOrder& order, std::uint32_t threads, std::function<bool()> interrupted)
    : least_(std::size_t{2} * threads), wanted_(least_) {
  require(threads > 0, "a pool of no thread");
  const auto ends = [this, interrupted = std::move(interrupted)] { return stopped_.load() || interrupted(); };
  for (std::uint32_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, &order, ends] { work(order, ends); });
  }
}

PointPool::~PointPool() {
  stopped_ = true;
  waiting_.notify_all();
  for (std::thread& thread : threads_) { thread.join(); }
}

std::size_t PointPool::room() const {
  const std::lock_guard lock(mutex_);
  const std::size_t unfinished = under_way_ - outcomes_.size();
  return unfinished < wanted_ ? wanted_ - unfinished : 0;
}

void PointPool::submit(std::uint64_t point) {
  const std::lock_guard lock(mutex_);
  points_.push_back(point);
  ++under_way_;
  waiting_.notify_one();
}

std::size_t PointPool::under_way() const {
  const std::lock_guard lock(mutex_);
  return under_way_;
}

std::vector<SweepOutcome> PointPool::take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return !outcomes_.empty() || under_way_ == 0 || failure_; });
  if (failure_) { std::rethrow_exception(failure_); }
  under_way_ -= outcomes_.size();
  // Points may be far shorter than it takes to write some of them down durably.
  wanted_ = std::clamp(2 * outcomes_.size(), least_, std::max(least_, kMostWaiting));
  return std::exchange(outcomes_, {});
}

void PointPool::work(const SweepOrder& order, const std::function<bool()>& interrupted) {
  try {
    PointRunner runner(order, interrupted);
    work_on_points(runner);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    changed_.notify_all();
  }
}

void PointPool::work_on_points(PointRunner& runner) {
  for (;;) {
    std::unique_lock lock(mutex_);
    // With a time limit: whoever sets stopped_ may do so between the question and the wait.
    while (points_.empty() && !stopped_) { waiting_.wait_for(lock, std::chrono::milliseconds(100)); }
    if (stopped_) { return; }
    const std::uint64_t point = points_.front();
    points_.pop_front();
    lock.unlock();
    std::optional<SweepOutcome> outcome = runner.run(point);
    lock.lock();
    if (outcome) {
      outcomes_.push_back(std::move(*outcome));
    } else {
      --under_way_;
    }
    changed_.notify_all();
  }
}

}  // namespace athanor
