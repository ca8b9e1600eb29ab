#pragma once

#include <cstdint>

#include "models/software/costs.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

/// Hosts on a non-blocking two-level fat tree of sqrt(hosts) leaves and as many spines, 12.5 GB/s and 500 ns a link,
/// routed by destination modulo the up-links. Requires a square number of hosts.
Cluster square_fat_tree(std::uint32_t hosts);

/// The same with as many tiers as switches of `radix` ports need.
Cluster fat_tree_of_radix(std::uint32_t hosts, std::uint32_t radix, Routing routing = Routing::d_mod_k);

/// Nodes of eight GPUs on an NVSwitch and eight NICs, like a DGX H100, on a rail-optimized fabric of radix 64.
Cluster rail_optimized_nodes(std::uint32_t nodes);

/// The same nodes on a fat tree of radix 64 with twelve NICs on a leaf: every other node straddles two leaves.
Cluster nodes_across_leaves(std::uint32_t nodes);

/// No software cost; a send ends when it is delivered.
class HardwareOnly final : public CostModel {
 public:
  AgentCost agent(AgentId) const override { return {}; }
  ConnectionCost connection(AgentId, AgentId, std::span<const LinkId>) const override;
  Bytes element_size() const override { return Bytes{4}; }
  std::uint32_t slots() const override { return 8; }
};

}  // namespace athanor
