#pragma once

#include <memory>
#include <span>
#include <vector>

#include "algorithms/aggregation_tree.hpp"
#include "models/in_network/engine_limits.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

/// An aggregation tree on a fabric.
struct PlacedTree {
  std::shared_ptr<const AggregationTree> tree;
  std::vector<VertexId> switches;  ///< by node
};

/// The tree that an aggregation manager builds for a job, whose rank r is on `endpoints[r]`: each rank hangs on the
/// switch next to it; the top is the switch with the least distance to the farthest of these, of several the one that
/// is nearest to all together, and of those the first; every other is joined to it by a shortest path. Switches on the
/// way that would only pass on have no node. Links that are down carry nothing.
///
/// Throws SimulationError: "no-switch" where an endpoint is next to none, "no-common-root" where no switch reaches all,
/// "aggregation-radix" where more would hang on a switch than it takes.
PlacedTree build_aggregation_tree(const Fabric& fabric, std::span<const VertexId> endpoints,
                                  const EngineLimits& limits = {});

}  // namespace athanor
