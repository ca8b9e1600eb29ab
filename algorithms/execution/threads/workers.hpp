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
#include "algorithms/execution/threads/ready_queue.hpp"

namespace athanor {

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
