#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

struct GoalOptions {
  std::int64_t element_bytes = 4;
  /// Bytes per second at which a rank adds one vector to another; 0: at once. A reduction is a `calc` of as many whole
  /// nanoseconds, rounded up.
  std::int64_t reduced_per_second = 0;
};

struct GoalSummary {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t empty = 0;  ///< messages without content, written as one byte, since GOAL has no others
  std::uint64_t operations = 0;
};

/// Writes a schedule in GOAL, the language of LogGOPSim and ATLAHS, rank by rank and lane by lane; memory does not grow
/// with ranks or steps. Every message has a tag that no other message to the same rank has. A receive is posted when
/// its slot is free (least_slots() of them), so that the schedule ends with rendezvous sends too.
/// Throws ScenarioError ("no-goal-form") for engines and for more than 2^32 tags.
GoalSummary export_goal(const Schedule& schedule, const GoalOptions& options,
                        const std::function<void(std::string_view)>& write);

}  // namespace athanor
