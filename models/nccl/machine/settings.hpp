#pragma once

#include <cstdint>
#include <optional>

#include "models/nccl/channel_graph.hpp"
#include "models/software/nccl.hpp"

namespace athanor {

/// What users and plugins change about NCCL's search.
struct SearchSettings {
  NcclVersion version;
  std::uint32_t cross_nic = 2;        ///< NCCL_CROSS_NIC: 0 never, 1 always, 2 if it helps
  bool pxn = true;                    ///< not NCCL_PXN_DISABLE=1
  std::optional<NcclPath> p2p_level;  ///< NCCL_P2P_LEVEL; loc is NCCL_P2P_DISABLE=1. None: NCCL chooses
  std::optional<NcclPath> gdr_level;  ///< NCCL_NET_GDR_LEVEL. None: NCCL chooses
  bool network_gpu_direct = true;     ///< the network plugin does GPUDirect RDMA; plain TCP does not
  bool collnet = false;               ///< NCCL_COLLNET_ENABLE=1, and switches that add up
  bool nvls = true;                   ///< NCCL_NVLS_ENABLE is not 0, and the driver has multicast
};

}  // namespace athanor
