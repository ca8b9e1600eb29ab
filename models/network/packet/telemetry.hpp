#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "models/network/packet/packet_topology.hpp"
#include "sim/time.hpp"

namespace athanor {

/// What a switch writes into a data packet that it sends (in-band network telemetry), about the port by which it does.
struct HopRecord {
  std::uint32_t link = UINT32_MAX;  ///< UINT32_MAX: nothing was written
  std::int64_t queue = 0;           ///< bytes that wait behind the packet
  std::int64_t sent = 0;            ///< bytes since the beginning, this packet included
  Time when;                        ///< its last bit leaves
};

/// The telemetry of packets that are under way, kept beside them, so that packets without it stay small.
class Telemetry {
 public:
  /// `packets`: of each flow at most so many are remembered, the latest.
  Telemetry(const PacketTopology& plan, const std::vector<std::uint32_t>& packets) : sent_(plan.links.size()) {
    flows_.reserve(plan.flows.size());
    for (std::size_t f = 0; f < plan.flows.size(); ++f) {
      flows_.push_back({plan.flows[f].hops, std::max(1U, packets[f]), {}});
    }
  }

  /// A packet of so many bytes is sent on a link.
  void count(std::uint32_t link, std::uint32_t bytes) { sent_[link] += bytes; }
  /// Requires that count() was told of the packet.
  void note(std::uint32_t flow, std::uint32_t number, std::uint32_t hop, std::uint32_t link, std::int64_t queue,
            Time when) {
    Flow& of = flows_[flow];
    if (of.records.empty()) { of.records.resize(std::size_t{of.packets} * of.hops); }
    of.records[std::size_t{number % of.packets} * of.hops + hop] = {link, queue, sent_[link], when};
  }
  /// By hop of the flow's path; empty where no packet of the flow was noted. Of a packet that is no longer remembered:
  /// the records of a later one.
  std::span<const HopRecord> of(std::uint32_t flow, std::uint32_t number) const {
    const Flow& of = flows_[flow];
    if (of.records.empty()) { return {}; }
    return std::span(of.records).subspan(std::size_t{number % of.packets} * of.hops, of.hops);
  }

 private:
  struct Flow {
    std::uint32_t hops;
    std::uint32_t packets;
    std::vector<HopRecord> records;
  };
  std::vector<Flow> flows_;
  std::vector<std::int64_t> sent_;  ///< by link
};

}  // namespace athanor
