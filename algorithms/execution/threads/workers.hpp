#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "algorithms/execution/threads/lanes.hpp"

namespace athanor {

/// What a ReadyQueue holds; a task stands in at most one queue at a time.
struct Task {
  Task* next = nullptr;
};

/// How many workers are parked, for finding that all are: then nothing moves any more.
using ParkedWorkers = std::atomic<std::int64_t>;

/// The tasks that wait for one worker. Anyone pushes, its worker takes. An empty queue may be parked at.
class ReadyQueue {
 public:
  /// Any thread. What the caller wrote before is seen by the worker that takes the task.
  void push(Task& task, ParkedWorkers& parked) {
    Task* head = head_.load(std::memory_order_relaxed);
    do {
      task.next = head == &sleeper_ ? nullptr : head;
      // Release: the worker's acquire in take() sees the task. Acquire: to see what a sleeper did before.
    } while (!head_.compare_exchange_weak(head, &task, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (head == &sleeper_) { rouse(parked); }
  }

  /// The worker. All tasks, the first pushed first; null where there are none.
  Task* take() {
    if (head_.load(std::memory_order_relaxed) == nullptr) { return nullptr; }
    Task* newest = head_.exchange(nullptr, std::memory_order_acquire);
    Task* oldest = nullptr;
    while (newest != nullptr) {
      Task* const next = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = next;
    }
    return oldest;
  }

  bool empty() const { return head_.load(std::memory_order_relaxed) == nullptr; }

  /// The worker. Sleeps until something is pushed, or until nudge(). Returns at once where the queue is not empty or
  /// `awake` says so. What happens between a change that `awake` tells of and the nudge() after it cannot be missed:
  /// both change head_, so one of them sees the other. `alone` is called where all `workers` are parked.
  template <class Awake, class Alone>
  void park(ParkedWorkers& parked, std::int64_t workers, Awake awake, Alone alone) {
    Task* head = nullptr;
    if (!head_.compare_exchange_strong(head, &sleeper_, std::memory_order_acq_rel)) { return; }
    if (awake() && leave()) { return; }
    // Counted down by whoever rouses this worker, before it runs again: `workers` means that none runs.
    if (parked.fetch_add(1, std::memory_order_acq_rel) + 1 == workers) { alone(); }
    std::unique_lock lock(mutex_);
    roused_.wait(lock, [this] { return awake_; });
    awake_ = false;
  }

  /// Any thread. Wakes the worker if it is parked, with nothing to do.
  void nudge(ParkedWorkers& parked) {
    Task* head = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(head, head == &sleeper_ ? nullptr : head, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {}
    if (head == &sleeper_) { rouse(parked); }
  }

 private:
  /// Takes the mark of sleep back; false where somebody has taken it and is about to rouse this worker.
  bool leave() {
    Task* head = &sleeper_;
    return head_.compare_exchange_strong(head, nullptr, std::memory_order_acq_rel);
  }

  void rouse(ParkedWorkers& parked) {
    parked.fetch_sub(1, std::memory_order_acq_rel);
    const std::lock_guard lock(mutex_);
    awake_ = true;
    roused_.notify_one();
  }

  alignas(64) std::atomic<Task*> head_{nullptr};
  Task sleeper_;  ///< stands at head_ while the worker sleeps or is about to
  std::mutex mutex_;
  std::condition_variable roused_;
  bool awake_ = false;
};

/// Threads that advance lanes until all have ended.
class Workers final {
 public:
  enum class Outcome : std::uint8_t { ended, deadlocked, timed_out };
  struct Report {
    Outcome outcome = Outcome::ended;
    std::chrono::nanoseconds duration{0};  ///< from when all workers stood ready until the last lane ended
  };

  /// Lane i is always advanced by worker homes[i] < workers. `pinned`: each worker stays on a processor of its own,
  /// where there are enough. Requires that `lanes` outlives this, and workers > 0.
  Workers(Lanes& lanes, std::vector<std::uint32_t> homes, std::uint32_t workers, bool pinned = false);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Resets the lanes and advances them to their end. Passes on the first exception of a worker. No worker touches a
  /// lane after this has returned.
  Report run(std::chrono::nanoseconds time_limit);

 private:
  using Clock = std::chrono::steady_clock;
  /// Of a lane. Whoever may have made it ready and whoever advances it both change this: one sees the other.
  enum class Activity : std::uint8_t { blocked, queued, running, notified };
  /// A line of the cache for each: lanes of different workers are neighbours.
  struct alignas(64) Item : Task {
    std::uint32_t lane = 0;
    std::uint32_t home = 0;
    std::atomic<Activity> activity{Activity::blocked};
  };

  void wake(std::uint32_t lane);
  void set_up();
  Outcome await(std::chrono::nanoseconds time_limit);
  void serve(std::uint32_t worker);
  bool next_command(std::uint64_t served);
  void stand_ready();
  void work(std::uint32_t worker);
  void idle(std::uint32_t worker);
  void advance(Item& item);
  void count_ended();
  bool over() const;
  void halt();

  Lanes& lanes_;
  const WakeLane wake_;
  int spins_;
  std::vector<Item> items_;
  std::vector<ReadyQueue> queues_;

  alignas(64) std::atomic<std::uint64_t> unended_{0};  ///< lanes
  alignas(64) std::atomic<bool> stop_{false};
  std::atomic<bool> deadlocked_{false};
  alignas(64) ParkedWorkers parked_{0};
  alignas(64) std::atomic<std::uint32_t> ready_{0};    ///< workers that stand ready
  alignas(64) std::atomic<std::uint64_t> started_{0};  ///< commands
  Clock::time_point begin_;
  Clock::time_point end_;

  std::mutex mutex_;  ///< of what follows
  std::condition_variable commanded_;
  std::condition_variable finished_;
  std::uint64_t commands_ = 0;
  std::uint32_t busy_ = 0;
  bool quit_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace athanor
