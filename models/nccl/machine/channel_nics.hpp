#pragma once

#include <memory>

#include "models/nccl/channel_graph.hpp"
#include "models/nccl/machine/paths.hpp"
#include "models/software/channel_nics.hpp"

namespace athanor {

/// The NICs of a graph's channels: the GPU that a channel begins with sends and receives by the NIC it comes in by, all
/// others by the one it goes out by; over which GPU, paths say (NCCL 2.30.7, src/graph/topo.cc: ncclTopoGetNetDev). In
/// odd nodes channels of a ring that crosses between NICs go the way of their neighbour, as ring_orders says.
/// Null where no channel leaves the node.
std::shared_ptr<const ChannelNics> graph_nics(const ChannelGraph& graph, const NcclPaths& paths);

/// Of graphs that name only heads (NVLS, CollNetDirect): each head has the NIC of its channel, whatever the channel.
std::shared_ptr<const ChannelNics> head_nics(const ChannelGraph& graph, const NcclPaths& paths);

/// Of sends and receives: each GPU has the NICs nearest to it, one channel after the other.
std::shared_ptr<const ChannelNics> peer_nics(const NcclPaths& paths);

}  // namespace athanor
