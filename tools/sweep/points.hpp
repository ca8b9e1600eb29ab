#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "models/experiments/scenario/sweep/plan.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/manifest.hpp"
#include "tools/sweep/database.hpp"

namespace athanor {

/// What a sweep simulates. The same in every thread and process that takes part.
struct SweepOrder {
  std::string path;  ///< of the scenario
  SweepPlan plan;
  std::vector<std::size_t> cases;  ///< of each case of the plan its place in the file
  ScenarioChanges changes;         ///< beside those of a point
  RunOptions options;              ///< how each is simulated
  const CommonOptions& common;
};

/// Simulates points, one after the other, in one thread; clusters that stay the same from one to the next are built
/// once. `interrupted` is asked between sizes.
class PointRunner {
 public:
  PointRunner(const SweepOrder& order, std::function<bool()> interrupted);

  /// What is wrong with a point is its outcome, not an exception. None: interrupted.
  std::optional<SweepOutcome> run(std::uint64_t point);

 private:
  bool simulate(std::uint64_t point, SweepOutcome& outcome);

  const SweepOrder& order_;
  std::function<bool()> interrupted_;
  PriceList prices_;
  InputsRead inputs_;
  ScenarioReader reader_;
};

/// Simulates points in several threads of this process. To be used by one thread, which none of them is.
class PointPool {
 public:
  /// Requires threads > 0. `interrupted` is asked by all of them at any time.
  PointPool(const SweepOrder& order, std::uint32_t threads, std::function<bool()> interrupted);
  /// Gives up what is under way.
  ~PointPool();
  PointPool(const PointPool&) = delete;
  PointPool& operator=(const PointPool&) = delete;

  /// How many more points keep all threads busy while their outcomes are fetched.
  std::size_t room() const;
  void submit(std::uint64_t point);
  /// Points that were submitted and neither taken nor given up.
  std::size_t under_way() const;
  /// What has ended, in no certain order; waits for something if need be, for as long as `patience`. Rethrows what no
  /// point can be blamed for.
  std::vector<SweepOutcome> take(std::chrono::milliseconds patience);

 private:
  void work(const SweepOrder& order, const std::function<bool()>& interrupted);
  void work_on_points(PointRunner& runner);

  std::size_t least_;
  std::size_t wanted_;  ///< under way and not ended
  std::atomic<bool> stopped_{false};
  mutable std::mutex mutex_;
  std::condition_variable waiting_;  ///< for a point
  std::condition_variable changed_;  ///< a point has ended
  std::deque<std::uint64_t> points_;
  std::vector<SweepOutcome> outcomes_;
  std::size_t under_way_ = 0;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace athanor
