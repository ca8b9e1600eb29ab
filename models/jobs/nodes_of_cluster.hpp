#pragma once

#include "models/jobs/node_list.hpp"

namespace athanor {

struct Cluster;

/// The nodes of a cluster: endpoints that are GPUs of one node, or each a node of its own where they are on the fabric
/// themselves. Nodes below the same switches are near each other. Throws SimulationError("node-too-large") where a node
/// has more than GpuSet::kMost GPUs.
NodeList nodes_of(const Cluster& cluster);

/// The endpoints of each of these nodes, in the order of their GPUs.
IdVector<NodeId, std::vector<std::uint32_t>> endpoints_by_node(const Cluster& cluster);

}  // namespace athanor
