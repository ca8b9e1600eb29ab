#pragma once

#include "algorithms/schedule.hpp"
#include "models/shared_memory/thread_costs.hpp"
#include "sim/time.hpp"

namespace athanor {

/// How long schedules take on threads that share memory: for real, or as a model says.
class Timing {
 public:
  virtual ~Timing() = default;
  /// The median of repeated runs of a schedule of float32 on so many workers. Throws SimulationError where it fails.
  virtual Time of(const Schedule& schedule, std::uint32_t workers) = 0;
};

/// The threads executor, on this machine.
class Stopwatch final : public Timing {
 public:
  /// Each schedule is repeated for about so long, after a warm-up.
  explicit Stopwatch(Time patience) : patience_(patience) {}
  Time of(const Schedule& schedule, std::uint32_t workers) override;

 private:
  Time patience_;
};

/// The model.
class ModelTiming final : public Timing {
 public:
  /// Borrows the costs, which may change between calls.
  explicit ModelTiming(const ThreadCosts& costs) : costs_(costs) {}
  Time of(const Schedule& schedule, std::uint32_t workers) override;

 private:
  const ThreadCosts& costs_;
};

}  // namespace athanor
