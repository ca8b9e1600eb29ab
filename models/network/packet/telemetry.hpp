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
  static constexpr LinkIndex kNoLink{UINT32_MAX};

  LinkIndex link = kNoLink;  ///< kNoLink: nothing was written
  std::int64_t queue = 0;    ///< bytes that wait behind the packet
  std::int64_t sent = 0;     ///< bytes since the beginning, this packet included
  Time when;                 ///< its last bit leaves
};

/// The telemetry of packets that are under way, kept beside them, so that packets without it stay small.
class Telemetry {
 public:
  /// `packets`: of each flow at most so many are remembered, the latest.
  Telemetry(const PacketTopology& plan, const IdVector<ConnectionId, std::uint32_t>& packets)
      : sent_(plan.links.size()) {
    flows_.reserve(plan.flows.size());
    for (const ConnectionId flow : plan.flows.ids()) {
      flows_.push_back({plan.flows[flow].hops, std::max(1U, packets[flow]), {}});
    }
  }

  /// A packet of so many bytes is sent on a link.
  void count(LinkIndex link, std::uint32_t bytes) { sent_[link] += bytes; }
  /// Requires that count() was told of the packet.
  void note(ConnectionId flow, std::uint32_t number, std::uint32_t hop, LinkIndex link, std::int64_t queue, Time when) {
    Flow& of = flows_[flow];
    if (of.records.empty()) { of.records.resize(std::size_t{of.packets} * of.hops); }
    of.records[std::size_t{number % of.packets} * of.hops + hop] = {link, queue, sent_[link], when};
  }
  /// By hop of the flow's path; empty where no packet of the flow was noted. Of a packet that is no longer remembered:
  /// the records of a later one.
  std::span<const HopRecord> of(ConnectionId flow, std::uint32_t number) const {
    const Flow& of = flows_[flow];
    if (of.records.empty()) { return {}; }
    return std::span(of.records).subspan(std::size_t{number % of.packets} * of.hops, of.hops);
  }
  /// So much time and so many packets of the flow were skipped.
  void skip(ConnectionId flow, Time by, std::uint32_t packets) {
    Flow& of = flows_[flow];
    if (of.records.empty()) { return; }
    for (HopRecord& record : of.records) { record.when += by; }
    const std::size_t rest = of.packets - packets % of.packets;  // the record of a packet moves with its number
    std::rotate(of.records.begin(), of.records.begin() + static_cast<std::ptrdiff_t>(rest % of.packets * of.hops),
                of.records.end());
  }

 private:
  struct Flow {
    std::uint32_t hops;
    std::uint32_t packets;
    std::vector<HopRecord> records;
  };
  IdVector<ConnectionId, Flow> flows_;
  IdVector<LinkIndex, std::int64_t> sent_;  ///< by link
};

}  // namespace athanor
