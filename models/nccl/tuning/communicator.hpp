#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "models/nccl/channel_graph.hpp"
#include "models/nccl/tuning/environment.hpp"
#include "models/software/channel_nics.hpp"
#include "models/software/nccl.hpp"
#include "sim/units.hpp"

namespace athanor {

enum class CpuArchitecture : std::uint8_t { x86, arm, power };
/// Mixed: hosts of AMD and of others in one communicator.
enum class CpuVendor : std::uint8_t { intel, amd, mixed, other };

/// What the plugin for reductions in the network can do (SHARP's: nccl-rdma-sharp-plugins).
struct CollNetPlugin {
  bool present = false;
  bool gathers = false;      ///< iallgather
  bool scatters = false;     ///< ireducescatter
  bool short_types = false;  ///< int8, uint8 and bfloat16 too: SHARP v3
  std::uint32_t heads = 0;   ///< GPUs of a node with a NIC that takes part
};

/// How GPUs reach each other, for sends and receives.
struct NcclPeers {
  bool all_nvlink = true;             ///< every pair of a node is joined by NVLink
  std::uint32_t least_links = 1;      ///< floor(path rate / rate of one NVLink), of the pair that has least
  std::uint32_t nics = 1;             ///< local to one GPU
  double nic_rate = 0;                ///< GB/s of these together
  NcclPath nic_path = NcclPath::pix;  ///< from a GPU to its NIC
  /// Every GPU has a NIC of its own, which the others of its node reach over NVLink and that GPU: messages to another
  /// node leave by the rail of their receiver (PXN).
  bool rails = false;
  bool host_memory = false;  ///< some pairs of a node go by it: they do not reach each other's memory (SHM)
};

/// Which ways to the memory of GPUs NCCL uses, where the machine has them. Where not, data goes by host memory.
struct NcclAccess {
  bool nvlink = true;  ///< of other GPUs over NVLink
  bool peers = true;   ///< over PCIe
  bool nics = true;    ///< of NICs: GPUDirect RDMA
  bool operator==(const NcclAccess&) const = default;
};

/// Which NICs each kind of channel takes; null: none leaves a node.
struct NcclNics {
  std::shared_ptr<const ChannelNics> ring;
  std::shared_ptr<const ChannelNics> tree;
  std::shared_ptr<const ChannelNics> collnet_chain;
  std::shared_ptr<const ChannelNics> nvls;
  std::shared_ptr<const ChannelNics> collnet_direct;
  std::shared_ptr<const ChannelNics> peers;  ///< of sends and receives
};

/// What NCCL knows of a communicator when it tunes. Values are the worst over all ranks, as NCCL exchanges them.
struct NcclCommunicator {
  NcclVersion version;
  bool rccl = false;         ///< AMD's library, whose version follows NCCL's
  std::string architecture;  ///< of GPUs from AMD: "gfx942"
  std::uint32_t ranks = 1;
  std::uint32_t nodes = 1;
  std::uint32_t most_local_ranks = 1;   ///< on one node
  std::uint32_t least_capability = 90;  ///< compute capability x 10
  std::uint32_t greatest_capability = 90;
  CpuArchitecture cpu = CpuArchitecture::x86;
  CpuVendor vendor = CpuVendor::intel;
  ChannelGraphs graphs;
  bool multicast = false;  ///< NVLink multicast: NVSwitch of generation 3 and a driver that offers it
  bool nvswitch = false;
  bool host_network = true;  ///< the network is driven by the CPU, not offloaded to the GPU
  bool cuda_11_8 = false;
  bool registered = false;  ///< the user's buffers are registered, or captured in a graph
  CollNetPlugin collnet;
  NcclNics nics;
  NcclPeers peers;
  NcclAccess access;
  NcclEnvironment environment;

  double ranks_per_node() const { return static_cast<double>(ranks) / static_cast<double>(nodes); }
};

/// Blocks of a kernel at most, and with them rings and trees (two for each channel that the search found, four on
/// Hopper with few NICs, half as many again with CollNet), within NCCL_MIN/MAX_NCHANNELS and _CTAS.
/// NCCL 2.30.7, src/graph/connect.cc.
std::uint32_t compute_channels(const NcclCommunicator& communicator);

/// Channels and chunks of NVLS and NVLSTree. NCCL 2.30.7, src/transport/nvls.cc.
struct NvlsSizes {
  std::uint32_t channels = 16;
  Bytes chunk{131072};
  Bytes tree_chunk{131072};  ///< of NVLSTree at most
};
NvlsSizes nvls_sizes(const NcclCommunicator& communicator);

/// GPUs of a node that reduce for the others with NVLS.
std::uint32_t nvls_heads(const NcclCommunicator& communicator);

/// Bytes of the buffer of one channel, connection and direction.
Bytes buffer_of(const NcclEnvironment& environment, NcclProtocol protocol);

}  // namespace athanor
