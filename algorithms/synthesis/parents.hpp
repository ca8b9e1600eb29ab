#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/synthesis/capacity_graph.hpp"
#include "algorithms/synthesis/spanning_trees.hpp"

namespace athanor {

constexpr std::uint32_t kNoParent = 0xffffffff;

/// By unit and rank: from whom a rank gets a unit. kNoParent: it is the root.
using Parents = std::vector<std::vector<std::uint32_t>>;

/// Lets ranks get units from other neighbours so that links have no more units than their capacity, as far as that can
/// be: at each rank for itself, by ways along which units change their links (a matching of units and links, which a
/// rank that is below it in a unit's tree cannot be part of). Requires trees of the graph's links.
void balance(const CapacityGraph& graph, Parents& parents);

/// `units`: successive ones that each root has.
std::vector<SpanningTree> trees_of(const Parents& parents, std::uint32_t units);

}  // namespace athanor
