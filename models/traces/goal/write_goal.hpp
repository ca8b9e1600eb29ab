#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/workload.hpp"

namespace athanor {

/// What was written of a workload in GOAL, and what that language cannot say.
struct GoalTraceExport {
  std::uint32_t ranks = 0;
  std::uint64_t operations = 0;
  std::uint64_t messages = 0;
  std::vector<std::string> notes;
};

/// Writes a workload in GOAL, the language of LogGOPSim and ATLAHS, rank by rank. Each stream is a `cpu`; computations
/// are `calc`s of whole nanoseconds, of which each stream carries on what rounding leaves. GOAL has no collectives:
/// each call becomes the messages of the catalog's first algorithm for it that all its ranks can carry out, in one
/// channel, every rank's part in one piece; additions take no time. Messages of calls and channels have tags of their
/// own. Throws SimulationError("unknown-ranks") as ranks_of_workers(), ("not-in-goal") for calls that no algorithm
/// carries out, and ScenarioError("no-goal-form") for more than 2^32 messages to one rank.
GoalTraceExport write_goal(const Workload& workload, const std::function<void(std::string_view)>& write);

}  // namespace athanor
