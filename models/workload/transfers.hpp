#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/call_shares.hpp"
#include "models/workload/collective_matcher.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// Calls that are under way: each transfers what it would alone, at the speed that the links leave it, and then waits
/// for its latency, in which it takes nothing of them.
class Transfers : public Actor {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    /// The call that start() gave this number to has ended, now.
    virtual void transferred(std::uint32_t number) = 0;
  };

  /// What a call of some estimate takes alone.
  struct Work {
    Time transfer;
    Time latency;
  };

  /// `works`: by estimate. `shares`: of what the calls take of links during their transfers, none of which runs.
  Transfers(Simulator& simulator, std::vector<Work> works, CallShares shares, Listener& listener);

  /// Begins a call, now. The number is free again when it has ended.
  std::uint32_t start(std::uint32_t estimate);
  /// How much of its transfer a call has behind it, in picoseconds alone. Requires one whose transfer has not ended.
  double done(std::uint32_t number) const;

  void on_event(std::uint64_t what) override;
  void on_end_of_instant() override;

 private:
  struct Running {
    std::uint32_t estimate = 0;
    std::uint32_t generation = 0;  ///< of its end's event; older ones no longer count
    double left = 0;               ///< of its transfer, in picoseconds alone, at `since`
    double speed = 0;              ///< since then; 0: not begun, transferred, or others have the links
    Time since;
  };

  void change(std::uint32_t estimate);
  void set_speed(std::uint32_t number, double speed);
  void leave_links(std::uint32_t number);

  Simulator& simulator_;
  ActorId self_;
  std::vector<Work> works_;  ///< by estimate
  CallShares shares_;
  Listener& listener_;
  std::vector<Running> running_;
  std::vector<std::uint32_t> free_;
  std::vector<std::vector<std::uint32_t>> of_estimate_;  ///< numbers that transfer
  std::vector<std::uint32_t> changed_;                   ///< estimates, of this instant
};

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
