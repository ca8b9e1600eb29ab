#pragma once

#include "models/training/parallel_plan.hpp"
#include "sim/config/fields.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

/// "compression" of a plan. What a kind does not have is refused.
void read_compression(Fields& fields, Compression& compression);

/// Copies in a node, where the scenario leaves them to the cluster: tensor ranks of one are beside each other.
void settle_nodes(const Cluster& cluster, ParallelPlan& plan);

}  // namespace athanor
