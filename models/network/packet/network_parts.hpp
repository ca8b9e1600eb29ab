#pragma once

#include <cstdint>
#include <vector>

#include "models/network/packet/packet_topology.hpp"

namespace athanor {

/// Which flows have to do with each other: those that share a port, forth or back, and whoever shares one with those.
class NetworkParts {
 public:
  /// Borrows the plan.
  explicit NetworkParts(const PacketTopology& plan)
      : plan_(plan), first_(plan.links.size()), seen_(plan.links.size()) {}

  /// The flows of each part, in the order in which they were given.
  std::vector<std::vector<ConnectionId>> of(const std::vector<ConnectionId>& flows);

  /// The links of some flows, each once, in order.
  std::vector<LinkIndex> links_of(const std::vector<ConnectionId>& flows) const;

  /// A hash of what a part looks like to its flows: equal for parts of equally many flows whose paths, in order, have
  /// links of the same figures and meet in the same way.
  std::uint64_t pattern_of(const std::vector<ConnectionId>& flows) const;

  /// Do several flows send data by one port?
  bool meet(const std::vector<ConnectionId>& flows) const;

  /// By flow of a part, a number that is equal where symmetry makes rates equal: the same ports that several flows
  /// of the part send data by (at least one), paths as long, and the same cap.
  std::vector<std::uint32_t> kinds_of(const std::vector<ConnectionId>& flows) const;

 private:
  std::uint32_t root(std::uint32_t flow);

  const PacketTopology& plan_;
  IdVector<LinkIndex, std::uint32_t> first_;  ///< which of the flows was the first to use it
  IdVector<LinkIndex, std::uint32_t> seen_;   ///< in which call that was
  std::uint32_t call_ = 0;
  std::vector<std::uint32_t> parent_;  ///< by place among the flows
};

/// Calls `each(link)` for all links that packets of a flow take, forth and back, some of them several times.
template <class Each>
void for_links_of(const PacketTopology& plan, ConnectionId number, const Each& each) {
  const PacketTopology::Flow& flow = plan.flows[number];
  for (std::uint32_t h = 0; h < flow.hops * flow.paths; ++h) { each(plan.hops[flow.first_hop + h]); }
  for (std::uint32_t h = 0; h < flow.hops_back; ++h) { each(plan.hops[flow.first_hop_back + h]); }
}

}  // namespace athanor
