#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/execution/executor.hpp"
#include "models/execution/network_substrate.hpp"
#include "models/execution/pace.hpp"
#include "models/execution/step_repetition.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// So many calls take so long, and so do the next ones.
struct CallPeriod {
  Time span;
  std::uint32_t calls = 1;
};

/// Multiplies loops instead of simulating each: whenever the pilot, of running lanes the one with the most loops, has
/// ended a loop, the state of lanes, connections and network, in times relative to now, is compared with earlier ones.
/// Equal states have equal futures as long as no lane reaches its last loop, so the span between them is repeated in
/// one step. Exact to the picosecond: nothing is extrapolated that would not have happened.
/// With an error above 0 loops are multiplied, too, where no state comes back, but all lanes have kept one pace (Pace).
/// Calls that follow each other are multiplied in the same way, whenever a lane of the first kernel has ended one, and
/// steps of long loops as StepRepetition says.
class Repetition final : public Actor, public ExecutionObserver {
 public:
  /// Borrows all of them, and observes the executor. `error`: of Pace, for loops and steps.
  Repetition(Simulator& simulator, Executor& executor, NetworkSubstrate& network, const MappedSchedule& mapped,
             double error);

  void primitive_ended(const EndedPrimitive& primitive) override;
  void loop_ended(LaneIndex lane) override;
  void call_ended(LaneIndex lane) override;
  void on_event(std::uint64_t) override {}
  void on_end_of_instant() override;

  /// Loops of pilots that were not simulated.
  std::uint64_t skipped_loops() const { return skipped_; }
  std::uint64_t skipped_steps() const { return steps_.skipped_steps(); }
  /// Of these, those that had settled but for an error.
  std::uint64_t settled_loops() const { return settled_; }
  std::uint64_t settled_steps() const { return steps_.settled_steps(); }
  /// In which calls repeat, where they do.
  const std::optional<CallPeriod>& period() const { return period_; }

 private:
  struct Snapshot {
    Time when;
    IdVector<LaneIndex, std::uint64_t> loops;
    std::vector<std::int64_t> state;
    CarriedBytes carried;
  };
  void choose_pilot();
  bool within_one_call(const Snapshot& before, const Snapshot& now) const;
  Snapshot take() const;
  bool repeat(const Snapshot& before, const Snapshot& now);
  bool look_at_pace(const Snapshot& now);
  bool have_settled(const Snapshot& before, const Snapshot& now);
  bool multiply(const Snapshot& before, const Snapshot& now, const IdVector<LaneIndex, std::uint64_t>& advance);
  void look_at_loops(Snapshot now);
  void look_at_calls(Snapshot now);
  bool repeat_calls(const Snapshot& before, const Snapshot& now);

  Simulator& simulator_;
  Executor& executor_;
  NetworkSubstrate& network_;
  const MappedSchedule& mapped_;
  ActorId id_;
  LaneIndex pilot_;
  bool pilot_chosen_ = false;
  std::uint64_t next_anchor_ = 1;
  std::uint64_t skipped_ = 0;
  Snapshot previous_;  // of the loop before: finds periods of one loop at once
  Snapshot anchor_;    // renewed at loops 1, 2, 4, 8, ...: finds any other period
  Pace pace_;
  Snapshot pace_anchor_;  // renewed after as many loops as settle
  std::uint64_t settled_ = 0;
  std::uint32_t pilot_call_ = 0;
  bool loop_is_over_ = false;
  bool call_is_over_ = false;
  std::vector<Snapshot> calls_;  // of the pilot kernel's last calls
  std::optional<CallPeriod> period_;
  StepRepetition steps_;
};

}  // namespace athanor
