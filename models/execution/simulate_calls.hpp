#pragma once

#include "models/execution/call_kernels.hpp"
#include "models/execution/simulate.hpp"

namespace athanor {

/// What calls of one collective take that follow each other, from the first primitive of the first one on.
struct SimulatedCalls {
  Time end;           ///< of the last call, in the mean over the ranks that do something
  Time period;        ///< from call to call, once the loop has settled
  bool exact = true;  ///< it repeats to the picosecond; else the period is that of the later half of the calls
  std::uint64_t primitives = 0;  ///< simulated
};

/// Runs a schedule again and again (see CallLoop). Calls that repeat are multiplied, so that many cost little more than
/// the first few. Of the options timeline, observers and jobs do not count. Requires at least two calls.
/// Throws as simulate().
SimulatedCalls simulate_calls(const Schedule& schedule, const Cluster& cluster, const Placement& placement,
                              const CostModel& costs, const SimulationOptions& options, const CallLoop& loop);

}  // namespace athanor
