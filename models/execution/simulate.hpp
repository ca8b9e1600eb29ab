#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/execution/plan.hpp"
#include "models/execution/side_jobs.hpp"
#include "models/network/packet/packet_counters.hpp"
#include "models/network/packet/packet_settings.hpp"

namespace athanor {

class CriticalPath;
class PrimitiveListener;
class Timeline;

enum class NetworkLevel : std::uint8_t {
  ideal,   ///< latency and the slowest link of a path; no contention
  flow,    ///< max-min fair sharing of every link
  packet,  ///< queues, marks, pauses and losses of single packets
};

std::string_view name(NetworkLevel level);

struct SimulationOptions {
  NetworkLevel level = NetworkLevel::flow;
  PacketSettings packet;          ///< at packet level
  std::uint32_t queue_pairs = 1;  ///< of every connection, each with a way of its own; means nothing at level ideal
  bool classes = true;            ///< simulate one of each class of equal agents (exact)
  bool repeat_loops = true;       ///< multiply loops that repeat (exact)
  bool count_ports = false;       ///< Simulated::ports
  bool each_link = false;         ///< Simulated::loads has every link, not one of each class
  Timeline* timeline = nullptr;   ///< draws what is simulated, every loop of it; nullptr: nothing
  Time timeline_offset;           ///< of the drawing: what happens before the schedule starts
  PrimitiveListener* listener = nullptr;  ///< told of every primitive, of every loop; where nothing is drawn
  CriticalPath* path = nullptr;           ///< follows every loop; means nothing where agents share a machine
  SideJobs jobs = {};                     ///< that the schedule holds; means nothing where agents share a machine
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
};

/// One collective, simulated from its launch to the end of its last lane.
struct Simulated {
  Time time;
  Time observed;                ///< in which links carried their loads; longer than `time` at packet level
  std::vector<Time> ends;       ///< of each of SimulationOptions::jobs
  std::vector<LinkLoad> loads;  ///< of every class of links that is on some connection's path, or of every link
  std::uint32_t lanes = 0;      ///< simulated, of `all_lanes`
  std::uint32_t all_lanes = 0;
  std::uint64_t primitives = 0;     ///< simulated
  std::uint64_t skipped_loops = 0;  ///< multiplied instead of simulated
  std::uint64_t events = 0;
  std::optional<PacketCounters> packets;  ///< at packet level
  std::vector<PortLoad> ports;            ///< where SimulationOptions::count_ports
};

/// Runs a schedule on a cluster. But at NetworkLevel::ideal no link may have carried more than its rate (checked).
/// Throws SimulationError: "deadlock", "no-route", "time-overflow"; at packet level also as packet_plan() does.
Simulated simulate(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs,
                   const SimulationOptions& options);

}  // namespace athanor
