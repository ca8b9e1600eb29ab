#pragma once

#include "models/experiments/scenario/workload_jobs.hpp"
#include "models/jobs/node_list.hpp"
#include "sim/error.hpp"

namespace athanor {

/// Finds out what slices of GPUs the tasks of a job ask for, and lets it have the types of GPUs that have them alone.
void resolve_slices(WorkloadJobKind& job, const NodeList& nodes, Problems& problems);

}  // namespace athanor
