#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "models/nccl/machine/nccl_system.hpp"
#include "models/nccl/tuning/communicator.hpp"

namespace athanor {

struct Cluster;

/// What a user says of NCCL beside the cluster.
struct NcclSettings {
  NcclVersion version;
  bool rccl = false;                               ///< AMD's library
  std::map<std::string, std::string> environment;  ///< of every process
  std::optional<NcclSystem> system;                ///< in place of what the cluster's first node looks like
  std::optional<ChannelGraphs> graphs;             ///< in place of what NCCL's search would find
  bool registered_buffers = false;                 ///< of users, with NCCL
  bool gpu_direct = true;  ///< the network plugin reads and writes GPUs' memory; plain TCP does not
  bool multicast = true;   ///< of NVLink, by the driver
  CollNetPlugin collnet;   ///< that reduces in the network, as SHARP's; its heads are found on the machine
};

/// The node that NCCL sees where `ranks` endpoints of a cluster have ranks: the first one of the cluster, or the
/// settings', with as many of its GPUs.
NcclSystem nccl_node(const Cluster& cluster, std::uint32_t ranks, const NcclSettings& settings);

/// What NCCL knows of the first `ranks` endpoints of a cluster, whose nodes are taken to be like the first one.
/// Requires 1 <= ranks <= endpoints, of whole nodes where they are on several.
NcclCommunicator nccl_communicator(const Cluster& cluster, std::uint32_t ranks, const NcclSettings& settings);

}  // namespace athanor
