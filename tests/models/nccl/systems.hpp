#pragma once

#include <string>

#include "models/nccl/machine/search.hpp"
#include "topologies/cluster.hpp"

namespace athanor::testing {

/// The first of so many nodes of a preset, on a star of 400 Gb/s ports.
NcclSystem preset_system(const std::string& node, std::uint32_t nodes);
/// Of the "node" of a scenario, written out.
NcclSystem node_system(const std::string& json, std::uint32_t nodes);

/// Hosts on a star of 100 Gb/s.
Cluster hosts(std::uint32_t count);

/// "8x48/48 NVL/PIX": channels, GB/s within and between nodes, types of path. Between nodes only where there are
/// several.
std::string shape(const ChannelGraph& graph);
/// "0: 0 7 6 5 4 3 2 1 :1": NIC, GPUs, NIC.
std::string route(const NcclChannel& channel);

}  // namespace athanor::testing
