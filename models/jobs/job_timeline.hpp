#pragma once

#include <cstddef>
#include <string>

#include "models/jobs/job.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/simulate_jobs.hpp"

namespace athanor {

class Timeline;

/// Stays of jobs that a timeline has at most, some 150 bytes each.
constexpr std::size_t kMostStaysDrawn = 300'000;

/// Draws which jobs were on which nodes when: a group for each domain of the lowest tier, as many lines for each node
/// as it had jobs at once, and below these when it was down; above all of them graphs of GPUs in use, jobs running and
/// jobs waiting. Where these were more stays than `most`, domains of a tier stand for nodes, and where they are still,
/// the first of them are drawn. Returns what was left out so, in words; "": nothing. Requires a run whose stints were
/// kept. Throws SimulationError("timeline-too-long") beyond the 106 days that a timeline may have.
std::string draw(const JobsRun& run, const JobList& jobs, const NodeList& nodes, Timeline& timeline,
                 std::size_t most = kMostStaysDrawn);

}  // namespace athanor
