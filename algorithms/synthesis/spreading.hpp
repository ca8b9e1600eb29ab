#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/synthesis/capacity_graph.hpp"
#include "algorithms/synthesis/spanning_trees.hpp"

namespace athanor {

/// Trees of one unit each, `units` for every rank, in time proportional to what is sent: links carry units one after
/// the other, each that its source has and its target lacks, those first that fewest ranks have (Won et al., TACOS:
/// Topology-Aware Collective Algorithm Synthesizer for Distributed Machine Learning, MICRO 2024, which expands the
/// network in time likewise). Over links that are narrow beside those within a group of ranks goes only what nobody of
/// the group has got or been promised. Then ranks get units from other neighbours wherever that takes something from a
/// link with more than its capacity. Links may still have more: greatest_load() says how much.
/// Deterministic for a seed. Requires a graph of ranks alone, which all reach each other.
std::vector<SpanningTree> spread_trees(const CapacityGraph& graph, std::int64_t units, std::uint64_t seed);

}  // namespace athanor
