#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topologies/cluster.hpp"
#include "topologies/network_topology.hpp"
#include "topologies/node/node_spec.hpp"

namespace athanor {

/// One node without a network. Requires faults(spec) to be empty.
Cluster single_node(const NodeSpec& spec);

/// A fabric written out: vertices with unique names, links by the numbers of their ends, both directions each.
struct ExplicitGraph {
  struct Device {
    std::string name;
    VertexKind kind = VertexKind::custom;
  };
  struct Cable {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    Link link;
  };
  std::vector<Device> devices;
  std::vector<Cable> cables;
};
/// Endpoints are its GPUs, or its hosts where it has no GPU, in the order of the list. Throws ScenarioError
/// ("no-endpoint", "unreachable") when there is none or one cannot reach the others.
Cluster explicit_graph(const ExplicitGraph& graph, const RoutingRequest& routing = {});

/// One machine whose ranks are threads that share so many processors, and memory. Requires both to be at least one.
Cluster shared_memory(std::uint32_t ranks, std::uint32_t processors);
/// One machine whose ranks are thread blocks of so many GPUs, and share their memory. Requires both to be at least one.
Cluster shared_gpus(std::uint32_t ranks, std::uint32_t gpus);

}  // namespace athanor
