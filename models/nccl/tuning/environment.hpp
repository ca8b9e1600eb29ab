#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/nccl/channel_graph.hpp"
#include "models/nccl/tuning/call.hpp"
#include "models/software/nccl.hpp"
#include "sim/units.hpp"

namespace athanor {

/// What became of a variable that does not say what its author meant.
struct NcclNote {
  enum class Effect : std::uint8_t {
    ignored,       ///< NCCL goes on as if it were not set
    changed,       ///< NCCL reads something else than is written
    refused,       ///< NCCL ends with ncclInvalidUsage while it creates a communicator
    unknown,       ///< no variable of NCCL's has this name
    not_modelled,  ///< NCCL knows it, this model does not follow it
  };
  Effect effect = Effect::ignored;
  std::string variable;
  std::string text;  ///< one sentence: what NCCL does and what to write instead
};

/// What NCCL_ALGO and NCCL_PROTO say of one algorithm or protocol. `unset` is on, LL128 only where it is safe.
enum class NcclEnable : std::uint8_t { unset, off, on };

/// The environment of a process as NCCL reads it. What is not set is empty or the default of NCCL.
struct NcclEnvironment {
  std::array<std::array<NcclEnable, kNcclAlgorithms>, kNcclFunctions> algorithms{};
  std::array<std::array<NcclEnable, kNcclProtocols>, kNcclFunctions> protocols{};

  std::optional<std::uint32_t> least_channels;         ///< NCCL_MIN_NCHANNELS
  std::optional<std::uint32_t> most_channels;          ///< NCCL_MAX_NCHANNELS
  std::optional<std::uint32_t> least_blocks;           ///< NCCL_MIN_CTAS
  std::optional<std::uint32_t> most_blocks;            ///< NCCL_MAX_CTAS
  std::optional<std::uint32_t> least_peer_channels;    ///< NCCL_MIN_P2P_NCHANNELS
  std::optional<std::uint32_t> most_peer_channels;     ///< NCCL_MAX_P2P_NCHANNELS
  std::optional<std::uint32_t> network_peer_channels;  ///< NCCL_NCHANNELS_PER_NET_PEER
  std::optional<std::uint32_t> nvls_channels;          ///< NCCL_NVLS_NCHANNELS

  std::array<std::optional<Bytes>, kNcclProtocols> buffers;  ///< NCCL_LL_BUFFSIZE, NCCL_LL128_BUFFSIZE, NCCL_BUFFSIZE
  std::optional<Bytes> nvls_chunk;                           ///< NCCL_NVLS_CHUNKSIZE
  std::optional<Bytes> nvls_tree_chunk;                      ///< NCCL_NVLSTREE_MAX_CHUNKSIZE
  std::optional<Bytes> network_peer_chunk;                   ///< NCCL_P2P_NET_CHUNKSIZE
  std::optional<Bytes> pcie_peer_chunk;                      ///< NCCL_P2P_PCI_CHUNKSIZE
  std::optional<Bytes> nvlink_peer_chunk;                    ///< NCCL_P2P_NVL_CHUNKSIZE
  Bytes peer_ll_threshold{16384};                            ///< NCCL_P2P_LL_THRESHOLD, per channel
  bool network_ll_buffers = false;                           ///< NCCL_ALLOC_P2P_NET_LL_BUFFERS

  std::optional<std::uint32_t> threads;        ///< NCCL_NTHREADS
  std::optional<std::uint32_t> ll128_threads;  ///< NCCL_LL128_NTHREADS
  std::optional<double> network_overhead;      ///< NCCL_NET_OVERHEAD, here in us

  bool nvls = true;                      ///< NCCL_NVLS_ENABLE
  std::optional<bool> pat;               ///< NCCL_PAT_ENABLE; none: where every node has one GPU
  bool ll128_over_c2c = true;            ///< NCCL_LL128_C2C
  bool collnet = false;                  ///< NCCL_COLLNET_ENABLE
  std::uint32_t collnet_nodes = 2;       ///< NCCL_COLLNET_NODE_THRESHOLD
  std::uint32_t cross_nic = 2;           ///< NCCL_CROSS_NIC
  bool merge_ports = true;               ///< NCCL_IB_MERGE_NICS is not 0, and NCCL_NET_MERGE_LEVEL not LOC
  bool pxn = true;                       ///< NCCL_PXN_DISABLE is not 1
  std::uint32_t peer_pxn = 2;            ///< NCCL_P2P_PXN_LEVEL: 0 never, 1 where a path is by PXN, 2 always
  bool peer_access = true;               ///< NCCL_P2P_DISABLE is not 1
  bool shared_memory = true;             ///< NCCL_SHM_DISABLE is not 1
  std::optional<NcclPath> peer_level;    ///< NCCL_P2P_LEVEL: the farthest path with peer access
  std::optional<NcclPath> direct_level;  ///< NCCL_NET_GDR_LEVEL: the farthest path with GPUDirect RDMA
  std::uint32_t queue_pairs = 1;         ///< NCCL_IB_QPS_PER_CONNECTION
  std::optional<Bytes> tree_threshold;   ///< NCCL_TREE_THRESHOLD, which 2.4 reads

  std::map<std::string, std::string> given;  ///< as written
  std::vector<NcclNote> notes;               ///< in the order of the variables' names
};

/// Reads variables as NCCL of this version does: numbers like strtoll with base 0 (what follows the digits is dropped),
/// NCCL_ALGO and NCCL_PROTO as lists `[function:][^]a,b;...` from 2.24 on and as one list before, levels by their exact
/// names. Sources: NCCL 2.30, src/misc/param.cc, src/graph/tuning.cc, src/graph/paths.cc, src/init.cc; the user guide's
/// chapter on environment variables.
NcclEnvironment nccl_environment(const std::map<std::string, std::string>& variables, NcclVersion version);

}  // namespace athanor
