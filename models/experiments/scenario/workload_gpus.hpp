#pragma once

#include "models/experiments/scenario/workload_jobs.hpp"
#include "models/jobs/node_list.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"
#include "topologies/scenario/cluster_config.hpp"

namespace athanor {

/// Says of the nodes of a mixture which GPUs they have, kind by kind.
void tell_kinds_apart(const ClusterConfig& config, const Cluster& cluster, NodeList& nodes);

/// Finds out what slices of GPUs the tasks of a job ask for, and lets it have the types of GPUs that have them alone.
/// A problem where nodes have none, or none of those whose speeds the job tells.
void resolve_gpus(WorkloadJobKind& job, const NodeList& nodes, Problems& problems);

}  // namespace athanor
