#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/synthesis/capacity_graph.hpp"

namespace athanor::testing {

/// Links both ways between ranks, or ranks and switches.
CapacityGraph graph_of(std::uint32_t ranks, std::uint32_t vertices, const std::vector<CapacityLink>& cables);
/// Rank i is joined to i + 1, both ways, by a cable of capacities[i].
CapacityGraph cable_ring(const std::vector<std::int64_t>& capacities);
/// Ranks on one switch, each by a cable of that capacity.
CapacityGraph one_switch(std::uint32_t ranks, std::int64_t capacity);
/// Sides of a torus of two dimensions, cables of capacity 1.
CapacityGraph square_torus(std::uint32_t side);
/// Groups of ranks on a leaf each, cables of `down`; leaves on one spine, cables of `up`.
CapacityGraph two_tiers(std::uint32_t groups, std::uint32_t ranks, std::int64_t down, std::int64_t up);
/// Nodes of ranks on an NVSwitch each with cables of `inner`; ranks of one place on one rail with cables of `outer`.
CapacityGraph rails(std::uint32_t nodes, std::uint32_t ranks, std::int64_t inner, std::int64_t outer);
/// Cables of capacities 1 to `most` between ranks and switches at random, so that all are joined.
CapacityGraph random_graph(std::uint32_t ranks, std::uint32_t switches, std::uint32_t cables, std::int64_t most,
                           std::uint32_t seed);

}  // namespace athanor::testing
