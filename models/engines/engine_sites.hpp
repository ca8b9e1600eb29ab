#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algorithms/catalog.hpp"
#include "models/engines/trees/aggregation_manager.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

struct Cluster;

/// Who grants trees of engines in switches. Whose job asks, for what kind of trees and for how many of each group is
/// for it to say.
using TreeSource = std::function<TreeGrant(TreeRequest)>;

/// Where the agents of an algorithm that are no ranks sit.
struct EngineSites {
  /// By engine: NVSwitches in the order of the nodes, then the nodes of tree 0, of tree 1, ...
  std::vector<VertexId> vertices = {};
  std::vector<Shared<AggregationTree>> trees = {};  ///< for EngineTreeShape::trees
  std::string refusal = {};  ///< why there is no place for them, in words for the user; "": there is
};

/// Whether engines sit in every node, or serve the ranks of one place in every node: then the groups of a layout are
/// the nodes of the cluster.
bool goes_by_nodes(Engine engine);

/// For ranks on the first endpoints of a cluster. NVSwitches have to be next to all ranks, by NVLinks that work.
/// `trees`: null: no switch of the network has engines. `heads`: the places of a node whose ranks have trees, where
/// engines serve one place in every node; none: all of them.
EngineSites find_engine_sites(const Cluster& cluster, std::uint32_t ranks, Engine engine, const TreeSource& trees,
                              std::span<const std::uint32_t> heads = {});

}  // namespace athanor
