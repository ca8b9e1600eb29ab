#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/synthesis/capacity_graph.hpp"
#include "sim/ratio.hpp"

namespace athanor {

struct TreeLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  bool operator==(const TreeLink&) const = default;
};

/// The way of some of a root's data to all other ranks.
struct SpanningTree {
  std::uint32_t root = 0;
  std::int64_t units = 1;            ///< of data that take it
  std::vector<TreeLink> links = {};  ///< from the root on: what leaves a rank comes behind what enters it
};

/// Trees of `units` units for every rank as root, no link being part of more than its capacity: after Bérczi and Frank,
/// Packing arborescences, 2010, which follows Edmonds, Edge-disjoint branchings, 1973. A tree grows link by link,
/// by each with as many of its units as a flow finds that the other trees can do without; the rest stays behind as a
/// tree of its own. Requires a graph of ranks alone and holds_trees(graph, units); then they always exist.
std::vector<SpanningTree> pack_trees(const CapacityGraph& graph, std::int64_t units);

/// The most units on a link over its capacity. Requires trees of the graph's links.
Ratio greatest_load(const CapacityGraph& graph, const std::vector<SpanningTree>& trees);

}  // namespace athanor
