#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "models/network/work_count.hpp"

namespace athanor {

/// What simulating a case is expected to take, counted before it is simulated.
struct CaseEffort {
  std::vector<double> seconds;  ///< by size, with all seeds; of one core
  WorkCount work;               ///< of all of them
  double bytes = 0;             ///< of memory at the largest size, the program and the fabric included

  double all_seconds() const { return seconds_of(work); }
};

/// Looks at some of many sizes, and takes the others to lie between these. Throws SimulationError("no-route").
CaseEffort effort_of(const Case& scenario_case, const RunOptions& options);

/// "40 ms", "2.3 s", "4 min", "3 h": about.
std::string duration_text(double seconds);
/// "900 MB", "1.2 GB".
std::string memory_text(double bytes);

/// "packet", "packet, skip_error 0.01", "flow": how exactly a network is simulated.
std::string level_text(const NetworkSettings& network);

/// The network as it is asked for, then in ever less detail, down to level ideal: packets, packets of which what has
/// settled is skipped, flows.
std::vector<NetworkSettings> levels_from(const NetworkSettings& asked);

/// The same case with less detail, which results then name.
Case at_level(const Case& scenario_case, const NetworkSettings& network, const Budget& budget);

/// Takes level by level from all cases that ask for more, until all of them together are expected to take no longer
/// than so many seconds. Throws UsageError where not even the ideal network fits, with what it would take, and as
/// effort_of().
void keep_to_budget(std::vector<Scenario>& scenarios, double seconds, const RunOptions& options);

/// Refuses cases that need more memory than so many bytes, beyond what an estimate is uncertain by:
/// SimulationError("too-large"), with how much that would be, and what to change.
void check_memory(const Scenario& scenario, const Case& scenario_case, const CaseEffort& effort, double most_bytes,
                  const RunOptions& options);

}  // namespace athanor
