#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/nccl/channel_graph.hpp"
#include "models/nccl/machine/paths.hpp"

namespace athanor {

/// Closed rings through `count` places, each way round, that go over every ordered pair of places exactly twice in all:
/// 2 (count - 1) of them, the reverses last. Requires at least 3.
std::vector<std::vector<std::uint32_t>> mesh_rings(std::uint32_t count);

/// Open chains through `count` places that go over every ordered pair exactly once in all, chain i from place i to
/// place i + count / 2: `count` of them. Requires an even number above 0.
std::vector<std::vector<std::uint32_t>> mesh_chains(std::uint32_t count);

/// The channels of RCCL where GPUs from AMD are all joined with each other by xGMI alike, as eight MI300X are: RCCL
/// does not search there, but has a table of rings that use all links equally (src/graph/rome_models.cc), 14 within a
/// node and 16 across nodes, which share the rate of all links of a GPU. The orders are ours, with the same use of the
/// links. `across`: between nodes, each channel in by the NIC of its first GPU and out by that of its last. None on any
/// other node, and across nodes where the number of GPUs is odd or one has no NIC.
std::optional<ChannelGraphs> xgmi_mesh_graphs(const NcclPaths& paths, bool across);

}  // namespace athanor
