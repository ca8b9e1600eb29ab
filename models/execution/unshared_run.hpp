#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "models/execution/mapped_schedule.hpp"
#include "models/network/network.hpp"

namespace athanor {

struct SimulationOptions;

/// What became of a schedule whose connections share no link.
struct UnsharedOutcome {
  Time finish;                      ///< of the last lane
  IdVector<LaneIndex, Time> ends;   ///< of each lane
  std::uint64_t primitives = 0;     ///< settled; of class members, where the schedule is folded
  std::uint64_t skipped_steps = 0;  ///< of each lane, which were multiplied
  CarriedBytes carried;             ///< by one link of each class
};

/// Runs a schedule of which no two connections cross one link, slack ones aside. When a message is injected then hangs
/// on nothing but those before it on its connection, so each primitive is settled as soon as what it begins on is
/// known, in whatever order, and no events are needed. The same as Executor on NetworkSubstrate at flow level, to the
/// picosecond.
///
/// Nothing where that does not hold, where costs have grains or handshakes, where primitives wait for other lanes,
/// where lanes have so many loops that they may repeat, where one job waits for another, or where nothing can run on (a
/// deadlock, which Executor explains). Throws Interrupted, SimulationError("time-overflow").
std::optional<UnsharedOutcome> run_unshared(const MappedSchedule& mapped, const Schedule& schedule, Bytes element_size,
                                            std::uint32_t slots, const SimulationOptions& options);

}  // namespace athanor
