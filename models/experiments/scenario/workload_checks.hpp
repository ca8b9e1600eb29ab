#pragma once

#include "models/experiments/scenario/workload_section.hpp"

namespace athanor {

/// Adds what cannot work of a workload that has its jobs and its nodes: jobs that fit on no node though nothing else
/// runs, types of GPUs and tiers that the cluster does not have, more nodes that stand by than there are, what the
/// scheduler refuses.
void check(const WorkloadConfig& workload, Problems& problems);

}  // namespace athanor
