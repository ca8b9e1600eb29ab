#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/network/packet/packet_counters.hpp"
#include "sim/units.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

/// What one link carried. `members`: how many links did the same.
struct LinkLoad {
  LinkId link;
  std::uint32_t members = 1;
  Bytes carried;
};

/// What the port at the source of one link did.
struct PortLoad {
  VertexId from;
  VertexId to;
  LinkKind kind = LinkKind::network;
  std::uint32_t members = 1;      ///< links that did the same
  Bandwidth rate;                 ///< what `carried` is held against
  Bytes carried;                  ///< payload; at packet level what data packets took on the wire
  PortCounters counters;          ///< at packet level
  std::uint64_t pauses_sent = 0;  ///< how often it told the port at the other end of its cable to stop
};

/// What became of packets, over all devices.
struct PacketCounters {
  SwitchCounters switches;
  HostCounters hosts;
};

/// What a simulation did to its network.
struct NetworkUse {
  Time observed;                ///< in which links carried their loads; longer than what was simulated at packet level
  std::vector<LinkLoad> loads;  ///< of every class of links that is on some connection's path, or of every link
  std::vector<PortLoad> ports;  ///< where NetworkOptions::count_ports
  std::optional<PacketCounters> packets;  ///< at packet level
};

}  // namespace athanor
