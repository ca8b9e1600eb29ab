#pragma once

#include "models/jobs/job.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/simulate_jobs.hpp"

namespace athanor {

class Timeline;

/// Draws which jobs were on which nodes when: a group for each domain of the lowest tier, and as many lines for each
/// node as it had jobs at once. Requires a run whose stints were kept. Throws SimulationError("timeline-too-long")
/// beyond the 106 days that a timeline may have.
void draw(const JobsRun& run, const JobList& jobs, const NodeList& nodes, Timeline& timeline);

}  // namespace athanor
