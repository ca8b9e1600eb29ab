#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/collective_matcher.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// Computations that run: as long as they take alone, and longer while their worker communicates, whose kernels take
/// processors and memory bandwidth.
class Computations : public Actor {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void computed(OperationId who) = 0;  ///< has ended, now
  };

  /// `interference`: how much longer; 0.1: 10 %.
  Computations(Simulator& simulator, std::size_t workers, double interference, Listener& listener);

  void start(OperationId who, Time alone);
  /// The worker begins to communicate, or does no longer.
  void communicates(std::uint32_t worker, bool now);

  void on_event(std::uint64_t what) override;

 private:
  struct Running {
    OperationId who;
    std::uint32_t generation = 0;  ///< of its end's event; older ones no longer count
    double left = 0;               ///< picoseconds alone, at `since`
    double speed = 1;
    Time since;
  };

  void await_end(std::uint32_t slot);

  Simulator& simulator_;
  ActorId self_;
  double slowed_;
  Listener& listener_;
  std::vector<double> speeds_;                       ///< by worker
  std::vector<std::vector<std::uint32_t>> running_;  ///< by worker, slots
  std::vector<Running> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace athanor
