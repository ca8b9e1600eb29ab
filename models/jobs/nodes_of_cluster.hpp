#pragma once

#include "models/jobs/node_list.hpp"

namespace athanor {

struct Cluster;

/// The nodes of a cluster: endpoints that are GPUs of one node, or each a node of its own where they are on the fabric
/// themselves. Nodes below the same switches are near each other. Throws SimulationError("node-too-large") where a node
/// has more than GpuSet::kMost GPUs.
NodeList nodes_of(const Cluster& cluster);

}  // namespace athanor
