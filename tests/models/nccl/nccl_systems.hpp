#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/nccl/tuning/communicator.hpp"

namespace athanor::testing {

/// A graph of `channels` at these speeds in GB/s, of a node of NVSwitches whose NICs stand beside their GPUs.
ChannelGraph found_graph(NcclPattern pattern, std::uint32_t channels, double within, double across);

/// Nodes of eight GPUs as the search finds them, with NCCL 2.30.7 and no environment: the worked examples' systems.
NcclCommunicator dgx_a100(std::uint32_t nodes);
NcclCommunicator dgx_h100(std::uint32_t nodes);
NcclCommunicator dgx_b200(std::uint32_t nodes);
/// The same with a network that adds up (SHARP), switched on.
NcclCommunicator with_sharp(NcclCommunicator communicator);
/// `nodes` of one GPU each behind one NIC of 50 GB/s.
NcclCommunicator lone_h100(std::uint32_t nodes);
/// Eight L40S that only PCIe joins, over the link between the sockets.
NcclCommunicator pcie_box();

/// The same with variables set, as this version reads them.
NcclCommunicator with_variable(NcclCommunicator communicator, const std::string& name, const std::string& text);
NcclCommunicator with_version(NcclCommunicator communicator, NcclVersion version);

NcclCall all_reduce_of(std::int64_t bytes);
NcclCall call_of(NcclFunction function, std::int64_t bytes);

}  // namespace athanor::testing
