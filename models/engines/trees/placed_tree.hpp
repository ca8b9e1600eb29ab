#pragma once

#include <memory>
#include <vector>

#include "algorithms/schedule/aggregation_tree.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

/// An aggregation tree on a fabric.
struct PlacedTree {
  std::shared_ptr<const AggregationTree> tree;
  std::vector<VertexId> switches;  ///< by node
};

}  // namespace athanor
