#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/formats/table_schedule.hpp"
#include "algorithms/synthesis/capacity_graph.hpp"
#include "algorithms/synthesis/spanning_trees.hpp"

namespace athanor {

/// Trees of every rank with so many units each, over the links of a graph of ranks alone.
struct TreeSet {
  CapacityGraph graph;
  std::int64_t units = 1;
  std::vector<SpanningTree> trees;
};

/// A chunk is a unit. All-gather: each root's data go down its trees.
Table gather_table(const TreeSet& trees, bool in_place);
/// Reduce-scatter: sums come up the trees to their roots, against the direction of the links.
Table reduce_table(const TreeSet& trees, bool in_place);
/// All-reduce: first up the trees of `reduced`, then down those of `gathered`, each sum as soon as it is complete.
/// Requires equal units of both.
Table all_reduce_table(const TreeSet& reduced, const TreeSet& gathered, bool in_place);

}  // namespace athanor
