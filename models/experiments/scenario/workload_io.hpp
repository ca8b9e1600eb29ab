#pragma once

#include <memory>

#include "models/experiments/scenario/workload_section.hpp"
#include "models/jobs/data/data_rules.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

/// Gives jobs that say how long a step takes their durations. What they read and is not there is a problem.
void put_durations(WorkloadConfig& workload, Problems& problems);

/// What a workload's jobs read and write, with JobList's IoId as list_of() gives them; nullptr: nothing. Nodes that are
/// servers of a storage lose their GPUs. What cannot be is a problem, as is what no job uses.
std::shared_ptr<const DataRules> data_rules_of(const WorkloadConfig& workload, const Cluster& cluster, NodeList& nodes,
                                               Problems& problems);

}  // namespace athanor
