#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/synthesis/capacity_graph.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

struct Cluster;

/// Ranks that a collective is synthesised for, at most.
constexpr std::uint32_t kMostSynthesisedRanks = 1024;

/// The links of a fabric that the data of its first `ranks` endpoints may take: rank r is endpoint r. Every link of
/// their network that is not down, and inside nodes those that routes between ranks, and to other nodes, go over: a GPU
/// reaches the network by its own NICs. Capacities are usable rates, in bytes per second.
struct FabricGraph {
  CapacityGraph graph;
  std::vector<VertexId> devices;  ///< by vertex of the graph
  std::string refusal;            ///< why there is none: ranks that share one machine, or too many; "": there is one
};

/// Requires at most as many ranks as endpoints.
FabricGraph fabric_graph(const Cluster& cluster, std::uint32_t ranks);

}  // namespace athanor
