#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/synthesis/capacity_graph.hpp"

namespace athanor {

/// Up to so many ranks everything is tried, at more what takes time in proportion to what is sent.
constexpr std::uint32_t kCarefulRanks = 64;

/// The graph without its switches, so that every rank can still be the root of so many trees (see holds_trees()): the
/// links to and from a switch are split off in pairs that become links from rank to rank, each of which stands for a
/// way through switches (ForestColl, section 5.3; the theorem is that of Bang-Jensen, Frank and Jackson, Preserving and
/// increasing local edge-connectivity in mixed graphs, 1995). All switches are tried at once, their neighbours being
/// joined as evenly as they can be, ranks of one switch with each other before, or if that is too narrow, after those
/// that are farther away. Where that is too narrow, too, and at most kCarefulRanks take part, links are split off one
/// pair after the other, of each as much as the trees allow. Nothing where no way is found. Requires holds_trees(graph,
/// trees).
std::optional<CapacityGraph> without_switches(const CapacityGraph& graph, std::int64_t trees);

}  // namespace athanor
