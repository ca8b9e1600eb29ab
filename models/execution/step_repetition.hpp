#pragma once

#include <cstdint>
#include <vector>

#include "models/execution/executor.hpp"
#include "models/execution/network_substrate.hpp"
#include "models/execution/pace.hpp"
#include "models/execution/recurrence.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// Multiplies the steps of a loop instead of simulating each: a ring passes its chunks on in as many equal steps as it
/// has ranks. While the pilot, of the lanes in a loop the one with the most steps, goes through them, the state of
/// lanes, connections and network, in times relative to now and with what the primitives under way are like in place of
/// their steps, is looked at after each of its steps, or as often as costs little beside simulating. When one seems to
/// come back, it is compared with that of a period later. Equal states have equal futures as long as every lane's next
/// primitives are like those of the period. Exact to the picosecond, as Repetition is of whole loops.
///
/// With an error above 0 steps are multiplied, too, where no state comes back, but all lanes have kept one pace (Pace).
class StepRepetition {
 public:
  /// Steps of a loop from which on looking for equal ones costs less than it saves.
  static constexpr std::uint32_t kFewest = 64;

  /// Borrows all of them.
  StepRepetition(Simulator& simulator, Executor& executor, NetworkSubstrate& network, const MappedSchedule& mapped,
                 double error);

  /// Told of every one; whether look() is wanted once this instant is over.
  bool primitive_ended(const EndedPrimitive& primitive);
  /// Multiplies steps if they have been found to repeat. Requires that the instant is over.
  void look();

  /// Steps of pilots that were not simulated.
  std::uint64_t skipped_steps() const { return skipped_; }
  /// Of these, those that had settled but for an error.
  std::uint64_t settled_steps() const { return settled_; }

 private:
  struct Snapshot {
    Time when;
    IdVector<LaneIndex, std::uint64_t> loops;
    IdVector<LaneIndex, std::uint32_t> steps;
    std::vector<std::int64_t> state;
    CarriedBytes carried;
  };
  void begin_with(LaneIndex pilot);
  Snapshot take() const;
  CarriedBytes carried() const;
  void look_at(Snapshot now);
  bool look_at_pace(const Snapshot& now);
  bool repeat(const Snapshot& before, const Snapshot& now);
  bool have_settled(const Snapshot& before, const Snapshot& now);
  bool multiply(const Snapshot& before, const Snapshot& now, const IdVector<LaneIndex, std::uint32_t>& advance);

  Simulator& simulator_;
  Executor& executor_;
  NetworkSubstrate& network_;
  const MappedSchedule& mapped_;
  LaneIndex pilot_ = Executor::kNobody;
  std::uint64_t pilot_loop_ = 0;
  std::uint64_t ended_ = 0;       ///< steps of the pilot, since it was chosen or steps were last multiplied
  std::uint64_t primitives_ = 0;  ///< of all lanes, until then
  std::uint64_t stride_ = 0;      ///< steps of the pilot from one look to the next; 0: none was taken yet
  std::uint64_t next_look_ = 0;   ///< by `ended_`
  bool wanted_ = false;           ///< a look at the end of this instant
  Recurrence recurrence_;
  std::uint64_t due_ = 0;  ///< the look at which `anchor_` may come back
  Snapshot anchor_;
  std::uint64_t skipped_ = 0;
  Pace pace_;
  std::uint64_t next_pace_ = 0;  ///< by `ended_`: after 16, 32, 64, ... steps
  Snapshot pace_anchor_;         ///< of the last of these
  std::uint64_t settled_ = 0;
};

}  // namespace athanor
