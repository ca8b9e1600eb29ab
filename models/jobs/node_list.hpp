#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/id_vector.hpp"

namespace athanor {

using NodeId = Id<struct NodeTag>;

/// Which GPUs and NICs of a node hang on which of its PCIe switches and sockets; those without a switch on one of their
/// socket's own. Numbers count from 0 on each node.
struct NodeDevices {
  std::vector<std::uint8_t> switch_of_gpu;
  std::vector<std::uint8_t> socket_of_gpu;
  std::vector<std::uint8_t> switch_of_nic;
  std::vector<std::uint8_t> socket_of_nic;

  auto operator<=>(const NodeDevices&) const = default;
};

/// What is to be had on a node when nothing runs there.
struct Node {
  static constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

  std::uint16_t gpu_type = 0;             ///< index of NodeList::gpu_types
  std::uint16_t gpus = 0;                 ///< at most GpuSet::kMost
  std::uint16_t nics = 0;                 ///< that jobs may ask for beside GPUs
  std::uint16_t devices = 0;              ///< index of NodeList::devices
  std::uint32_t cpu_milli = kUnlimited;   ///< thousandths of a core
  std::uint32_t memory_mib = kUnlimited;  ///< MiB
};

/// Nodes that are near each other: those below one leaf, one pod.
struct NodeTier {
  std::string name;                         ///< "leaf", "pod"
  IdVector<NodeId, std::uint32_t> domains;  ///< of each node, counted from 0
  std::uint32_t count = 0;                  ///< of domains
};

/// The nodes that jobs are placed on, as schedulers see them.
struct NodeList {
  IdVector<NodeId, Node> nodes;
  std::vector<std::string> names;      ///< of each node; empty: they are called by their numbers
  std::vector<std::string> gpu_types;  ///< at least one where a node has GPUs
  std::vector<NodeDevices> devices;    ///< of nodes that are alike; empty: nobody knows
  std::vector<NodeTier> tiers;         ///< from near to far; a domain of a tier lies in one domain of the next

  std::uint32_t count() const { return static_cast<std::uint32_t>(nodes.size()); }
  /// Of all nodes.
  std::uint32_t gpus() const;
  std::string name(NodeId node) const;
};

}  // namespace athanor
