#pragma once

#include <cstdint>
#include <memory>

#include "algorithms/schedule/collective.hpp"
#include "models/nccl/channel_graph.hpp"
#include "models/nccl/machine/nccl_system.hpp"

namespace athanor {

/// The channels that NCCL would find on nodes that are all like this one (2.30, src/graph/search.cc): rings, trees, and
/// where they can be, NVLS (NVSwitches and compute capability 90 on) and CollNet (settings.collnet, several nodes). Of
/// an algorithm that cannot be, the graph has no channels. The search has NCCL's order of relaxations and its budgets,
/// so that it gives up where NCCL does, and then the one channel in the order of the GPUs at 0.1 GB/s.
/// On a full mesh of GPUs from AMD the channels are as RCCL has them: mesh.hpp.
///
/// Requires a GPU and at least one node.
ChannelGraphs search_channels(const NcclSystem& system, std::uint32_t nodes, const SearchSettings& settings);

/// The ways of a ring graph through even and odd nodes: with cross_nic 2 odd nodes swap the channels of each pair, so
/// that traffic stays on its rail. `channels`: the first so many of them count, an even number of which pairs; 0: all.
/// Requires a ring with channels. Where a node's graph names no GPU twice, the orders are permutations.
std::shared_ptr<const ChannelOrders> ring_orders(const ChannelGraph& ring, std::uint32_t channels = 0);

}  // namespace athanor
