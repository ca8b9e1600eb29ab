#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/synthesis/capacity_graph.hpp"

namespace athanor {

/// The narrowest place of an all-gather: the data of the ranks inside have to leave it, over what its links carry.
struct GatherBound {
  std::uint32_t inside = 0;    ///< ranks of the cut
  std::int64_t capacity = 0;   ///< of all links that leave it
  std::vector<bool> cut = {};  ///< by vertex, whether it is inside
};

/// The cut of the greatest inside / capacity, which is the least time of an all-gather in which each rank has one unit:
/// no algorithm is faster, and trees exist that are as fast (Zhao et al., ForestColl: Throughput-Optimal Collective
/// Communications on Heterogeneous Network Fabrics, arXiv 2402.06787, theorem 1 and section 5.2). Exact: found by flows
/// from a source that feeds every rank at the same rate, which each cut found lowers (Dinkelbach's iteration).
/// A reduce-scatter has the bound of the transposed graph. Requires two ranks at least, which all reach each other.
GatherBound gather_bound(const CapacityGraph& graph);

/// Whether every rank can be the root of `trees` spanning trees all at once, each link being part of as many trees as
/// its capacity: Edmonds' condition, that for every rank v trees x ranks flow from such a source to v.
bool holds_trees(const CapacityGraph& graph, std::int64_t trees);

}  // namespace athanor
