#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "models/execution/ids.hpp"
#include "models/network/connections.hpp"
#include "models/software/channel_nics.hpp"
#include "models/software/costs.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

struct Cluster;

/// Where agents sit and what tells their flows apart.
struct Placement {
  std::vector<VertexId> vertices;       ///< by agent: ranks, then engines
  std::uint64_t seed = 0;               ///< of the routing's choices among equal paths
  std::uint32_t queue_pairs = 1;        ///< of a connection: flows that are hashed each on its own
  std::vector<NicUser> nic_users = {};  ///< by agent, where a library has chosen NICs; empty: the router does for all
};

/// A schedule laid out on a cluster: which lanes run, which connections join them, which links those cross. Either
/// the whole of it, or its quotient, where one lane, connection or link stands for a class of equal ones.
struct MappedSchedule {
  struct Lane {
    AgentId agent;  ///< of the lane itself, or of one member of its class
    LaneId lane;
    std::uint32_t steps = 0;
    std::uint64_t loops = 0;
    std::uint32_t first_in = 0;  ///< into `in_connections`
    std::uint32_t in_ports = 0;
    ConnectionId first_out;  ///< of out-port 0; the others follow
    std::uint32_t out_ports = 0;
    std::uint32_t cost = 0;  ///< into `agent_costs`
    StartIndex start = {};
    /// Every primitive uses all ports of this side or none, so that they cannot be told apart but by what is beyond
    /// them. In a quotient one port then stands for all that are equal.
    bool symmetric_inputs = false;
    bool symmetric_outputs = false;
  };
  /// When lanes begin.
  struct Start {
    Time begin;                          ///< not earlier
    std::vector<StartIndex> after = {};  ///< nor before all lanes of these starts have ended
  };
  struct Connection {
    LaneIndex source_lane;
    LaneIndex target_lane;
    std::uint32_t target_port = 0;
    std::uint32_t cost = 0;  ///< into `connection_costs`
  };
  IdVector<LaneIndex, Lane> lanes;
  IdVector<ConnectionId, Connection> connections;
  std::vector<ConnectionId> in_connections;
  IdVector<StartIndex, Start> starts{1};
  /// Calls follow each other, and the lanes of a rank begin the next one together: what tells one of them apart tells
  /// all of them.
  bool in_calls = false;
  std::vector<AgentCost> agent_costs;
  std::vector<ConnectionCost> connection_costs;
  IdVector<AgentId, std::uint32_t> first_lane;  ///< into `lane_of`
  std::vector<LaneIndex> lane_of;               ///< by agent and lane: the one of `lanes` that stands for it
  FabricConnections network;                    ///< connection c of it is that of `connections`

  LaneIndex lane(AgentId agent, LaneId lane) const { return lane_of[first_lane[agent] + lane.value]; }
  /// Behind the last lane of the agent in `lane_of`.
  std::size_t end_of_lanes(AgentId agent) const {
    const AgentId next{agent.value + 1};
    return next < first_lane.next() ? first_lane[next] : lane_of.size();
  }
};

/// The whole schedule, every agent on its own, on no cluster: without costs and network.
MappedSchedule flatten(const Schedule& schedule);

/// The whole schedule on a cluster, every agent on its own. Requires vertices for all agents, distinct or not. Throws
/// SimulationError("no-route").
MappedSchedule lay_out(const Schedule& schedule, const Cluster& cluster, const Placement& placement,
                       const CostModel& costs);

/// The quotient of a whole schedule by its coarsest equitable partition: lanes, connections and links that cannot be
/// told apart by programs, ports, costs and what they touch, however far one looks. Equal members have equal
/// histories, because the network's sharing does not depend on order, so simulating one of each is exact.
MappedSchedule fold(const MappedSchedule& whole, const Schedule& schedule);

}  // namespace athanor
