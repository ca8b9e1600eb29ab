#pragma once

#include <vector>

#include "models/experiments/effort.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/expected_end.hpp"

namespace athanor {

/// What each case is expected to take at each level of the network, as a table or as JSON.
void tell_efforts(const std::vector<Scenario>& scenarios, const RunOptions& options, const CommonOptions& common,
                  const Streams& streams);

/// Refuses what does not fit into this machine's memory, and says to err what takes longer than a moment; then when
/// the simulations are expected to be done. What cannot be counted is left to the run, which says what is wrong with
/// it. Throws SimulationError("too-large").
ExpectedEnd expect(const std::vector<Scenario>& scenarios, const RunOptions& options, const CommonOptions& common,
                   const Streams& streams);

}  // namespace athanor
