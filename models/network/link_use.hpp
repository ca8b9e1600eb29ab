#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/network/packet/packet_counters.hpp"
#include "sim/units.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// Where the time of transfers on a critical path went.
struct TransferTime {
  Time latency = {};            ///< of links; of whole calls also of software, and the filling of pipelines
  Time transfer = {};           ///< of bytes, at the rate that they have when nothing else moves
  Time sharing = {};            ///< what moving bytes took beyond that: links shared with others, queues, handshakes
  std::uint64_t transfers = 0;  ///< messages or calls whose bytes are on the path

  Time total() const { return latency + transfer + sharing; }
  TransferTime& operator+=(const TransferTime& other) {
    latency += other.latency;
    transfer += other.transfer;
    sharing += other.sharing;
    transfers += other.transfers;
    return *this;
  }
};

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
  std::optional<SkipCounters> skips;  ///< where settled traffic may be skipped
};

/// What a simulation did to its network.
struct NetworkUse {
  Time observed;                ///< in which links carried their loads; longer than what was simulated at packet level
  std::vector<LinkLoad> loads;  ///< of every class of links that is on some connection's path, or of every link
  std::vector<PortLoad> ports;  ///< where NetworkOptions::count_ports
  std::optional<PacketCounters> packets;  ///< at packet level
};

/// Which share of a time a link was busy with what it carried at its usable rate: from 0 to 1. More than 1 would be
/// needed at the ideal level alone, where links are shared at full speed; there it is 1. `time`: `observed` of what was
/// simulated. 0 where there is no time.
double utilisation(Bytes carried, Bandwidth usable, Time time);

/// How long the link needed for what it carried, at its usable rate.
Time busy_time(const Fabric& fabric, const LinkLoad& load);

/// The kind of a link and of the devices at its ends: "network leaf->spine".
std::string link_class(const Fabric& fabric, LinkId link);

/// What all links of one kind between devices of the same kinds did. Links that are down are left out.
struct LinkClassUse {
  std::string name;  ///< as link_class(); of several networks side by side also whose: "network leaf->spine, storage"
  std::uint32_t links = 0;  ///< one direction each
  std::uint32_t used = 0;   ///< links that carried anything
  double mean = 0;          ///< share of the time in which one of `links` was busy, on average
  double most = 0;          ///< of the busiest
  Bytes carried;            ///< by all of them
};

/// Of every class of links in the fabric, the busiest first. `loads`: of every link that carried anything, alone or as
/// a member of its class. All shares are 0 where time is.
std::vector<LinkClassUse> link_use(const Fabric& fabric, const std::vector<LinkLoad>& loads, Time time);

}  // namespace athanor
