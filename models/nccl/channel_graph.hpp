#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace athanor {

/// How two devices are joined, best first: over nothing, NVLink, NVLink through one other GPU, C2C, one PCIe switch,
/// several, C2C and the CPU's PCIe, NVLink to the GPU beside the NIC, the CPU, several CPUs, the network, not at all.
enum class NcclPath : std::uint8_t { loc, nvl, nvb, c2c, pix, pxb, p2c, pxn, phb, sys, net, dis };
/// As NCCL's logs write it: "NVL", "PIX", ...
std::string_view name(NcclPath path);

/// Numbers as in NCCL's graph files.
enum class NcclPattern : std::uint8_t {
  balanced_tree = 1,
  split_tree = 2,
  tree = 3,
  ring = 4,
  nvls = 5,
  collnet_direct = 6
};

/// One route through a node: in by a NIC, along its GPUs, out by a NIC. NICs and GPUs are numbers within the node; of
/// NVLS and CollNetDirect only the head is named.
struct NcclChannel {
  std::optional<std::uint32_t> in;  ///< none where nothing leaves the node
  std::vector<std::uint32_t> gpus;
  std::optional<std::uint32_t> out;
  bool operator==(const NcclChannel&) const = default;
};

/// What NCCL's search found for one algorithm in one node ("search channels"), or what its graph file says.
struct ChannelGraph {
  NcclPattern pattern = NcclPattern::ring;
  std::uint32_t cross_nic = 0;  ///< 2: a channel leaves by another NIC than it enters, in pairs of each other's reverse
  double speed_intra = 0;       ///< GB/s of each channel within the node
  double speed_inter = 0;       ///< GB/s of each channel between nodes
  double latency_inter = 0;     ///< of the NIC, in us
  NcclPath type_intra = NcclPath::dis;
  NcclPath type_inter = NcclPath::dis;
  bool same_channels = true;
  std::vector<NcclChannel> channels;  ///< none: the algorithm cannot run

  std::uint32_t count() const { return static_cast<std::uint32_t>(channels.size()); }
};

/// One for each algorithm that searches for itself. CollNetChain takes that of the tree's pattern, NVLSTree that of
/// NVLS.
struct ChannelGraphs {
  ChannelGraph ring;
  ChannelGraph tree;
  ChannelGraph collnet_chain;
  ChannelGraph nvls;
  ChannelGraph collnet_direct;
};

}  // namespace athanor
