#pragma once

#include <cstdint>
#include <vector>

#include "models/execution/executor.hpp"
#include "models/execution/network_substrate.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// Multiplies the steps of a loop instead of simulating each: a ring passes its chunks on in as many equal steps as it
/// has ranks. While the pilot, of the lanes in a loop the one with the most steps, goes through them, the state of
/// lanes, connections and network, in times relative to now and with what the primitives under way are like in place of
/// their steps, is compared with earlier ones. Equal states have equal futures as long as every lane's next primitives
/// are like those of the period. Exact to the picosecond, as Repetition is of whole loops.
class StepRepetition {
 public:
  /// Steps of a loop from which on looking for equal ones costs less than it saves.
  static constexpr std::uint32_t kFewest = 64;

  /// Borrows all of them.
  StepRepetition(Simulator& simulator, Executor& executor, NetworkSubstrate& network, const MappedSchedule& mapped);

  /// Told of every one; whether look() is wanted once this instant is over.
  bool primitive_ended(const EndedPrimitive& primitive);
  /// Multiplies steps if they have been found to repeat. Requires that the instant is over.
  void look();

  /// Steps of pilots that were not simulated.
  std::uint64_t skipped_steps() const { return skipped_; }

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
  bool repeat(const Snapshot& before, const Snapshot& now);

  Simulator& simulator_;
  Executor& executor_;
  NetworkSubstrate& network_;
  const MappedSchedule& mapped_;
  LaneIndex pilot_ = Executor::kNobody;
  std::uint64_t pilot_loop_ = 0;
  std::uint64_t ended_ = 0;  ///< steps of the pilot, since it was chosen or steps were last multiplied
  std::uint64_t next_anchor_ = 0;
  bool wanted_ = false;  ///< a look at the end of this instant
  std::uint64_t skipped_ = 0;
  Snapshot anchor_;  ///< renewed after 16, 32, 64, ... steps, and compared with the next few
};

}  // namespace athanor
