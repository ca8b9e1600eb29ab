#include "models/execution/mapped_schedule.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "sim/check.hpp"

namespace athanor {

namespace {

template <class Cost>
std::uint32_t intern(std::vector<Cost>& known, const Cost& cost) {
  const auto found = std::find(known.rbegin(), known.rend(), cost);
  if (found != known.rend()) { return static_cast<std::uint32_t>(known.rend() - found - 1); }
  known.push_back(cost);
  return static_cast<std::uint32_t>(known.size() - 1);
}

/// Which sides of a lane have ports that are all alike, by program: that is found in its first and last loop.
class LikePorts {
 public:
  explicit LikePorts(const Schedule& schedule) : schedule_(schedule) {}

  void find(MappedSchedule::Lane& lane, ProgramId program) {
    const auto [entry, fresh] = known_.try_emplace(program);
    if (fresh) { entry->second = look(lane); }
    lane.symmetric_inputs = entry->second.ins;
    lane.symmetric_outputs = entry->second.outs;
  }

 private:
  struct Sides {
    bool ins = true;
    bool outs = true;
  };
  static bool all_or_none(const Ports& used, std::uint32_t ports) { return used.count == 0 || used.count == ports; }

  Sides look(const MappedSchedule::Lane& lane) const {
    Sides sides;
    if (lane.loops == 0 || (lane.in_ports <= 1 && lane.out_ports <= 1)) { return sides; }
    for (const std::uint64_t loop : std::set<std::uint64_t>{0, lane.loops - 1}) {
      for (std::uint32_t step = 0; step < lane.steps && (sides.ins || sides.outs); ++step) {
        const Primitive primitive = schedule_.at(lane.agent, lane.lane, loop, step);
        sides.ins = sides.ins && all_or_none(primitive.receives, lane.in_ports);
        sides.outs = sides.outs && all_or_none(primitive.sends, lane.out_ports);
      }
    }
    return sides;
  }

  const Schedule& schedule_;
  std::map<ProgramId, Sides> known_;
};

void add_lanes(MappedSchedule& mapped, const Schedule& schedule) {
  const std::uint32_t agents = schedule.agent_count().agents;
  std::uint32_t ins = 0;
  ConnectionId outs;
  LikePorts like(schedule);
  for (AgentId agent{0}; agent.value < agents; ++agent.value) {
    mapped.first_lane.push_back(mapped.lanes.next().value);
    const std::uint32_t lanes = schedule.lanes(agent);
    for (LaneId id{0}; id.value < lanes; ++id.value) {
      const athanor::Lane lane = schedule.lane(agent, id);
      mapped.lane_of.push_back(mapped.lanes.next());
      mapped.lanes.push_back({agent, id, lane.steps, lane.loops, ins, lane.in_ports, outs, lane.out_ports});
      like.find(mapped.lanes.back(), lane.program);
      ins += lane.in_ports;
      outs.value += lane.out_ports;
    }
  }
  mapped.in_connections.resize(ins);
  mapped.connections.reserve(outs.value);
}

void join_ports(MappedSchedule& mapped, const Schedule& schedule) {
  for (const LaneIndex source : mapped.lanes.ids()) {
    const MappedSchedule::Lane& lane = mapped.lanes[source];
    for (PortId port{0}; port.value < lane.out_ports; ++port.value) {
      const Endpoint to = schedule.target(lane.agent, lane.lane, port);
      const LaneIndex target = mapped.lane(to.agent, to.lane);
      mapped.in_connections[mapped.lanes[target].first_in + to.port.value] = mapped.connections.next();
      mapped.connections.push_back({source, target, to.port.value});
    }
  }
}

void price_agents(MappedSchedule& mapped, const Schedule& schedule, const CostModel& costs) {
  mapped.agent_costs.clear();
  LaneIndex lane;
  for (AgentId agent{0}; agent.value < schedule.agent_count().agents; ++agent.value) {
    const std::uint32_t cost = intern(mapped.agent_costs, costs.agent(agent));
    for (; lane != mapped.lanes.next() && mapped.lanes[lane].agent == agent; ++lane.value) {
      mapped.lanes[lane].cost = cost;
    }
  }
}

/// From where to where a connection leads, and by which NICs.
RouteRequest route_of(const MappedSchedule& mapped, const MappedSchedule::Connection& connection, std::uint32_t port,
                      const Schedule& schedule, const Placement& placement) {
  const MappedSchedule::Lane& lane = mapped.lanes[connection.source_lane];
  const AgentId to = mapped.lanes[connection.target_lane].agent;
  const std::uint64_t flow = (placement.seed << 32U) ^ (std::uint64_t{lane.lane.value} << 8U) ^ port;
  RouteRequest request{placement.vertices[lane.agent.value], placement.vertices[to.value], flow};
  const std::uint32_t channel = schedule.channel(lane.agent, lane.lane);
  request.channel = channel + port;
  if (!placement.nic_users.empty()) {
    request.nics = nics_between(placement.nic_users[lane.agent.value], placement.nic_users[to.value], channel);
  }
  return request;
}

}  // namespace

MappedSchedule flatten(const Schedule& schedule) {
  MappedSchedule mapped;
  mapped.agent_costs.emplace_back();
  add_lanes(mapped, schedule);
  join_ports(mapped, schedule);
  return mapped;
}

MappedSchedule lay_out(const Schedule& schedule, const Cluster& cluster, const Placement& placement,
                       const CostModel& costs) {
  require(placement.vertices.size() == schedule.agent_count().agents, "{} places for {} agents",
          placement.vertices.size(), schedule.agent_count().agents);
  MappedSchedule mapped = flatten(schedule);
  price_agents(mapped, schedule, costs);
  ConnectionBuilder network(cluster, placement.queue_pairs);
  for (const ConnectionId number : mapped.connections.ids()) {
    MappedSchedule::Connection& connection = mapped.connections[number];
    const MappedSchedule::Lane& from = mapped.lanes[connection.source_lane];
    const AgentId to = mapped.lanes[connection.target_lane].agent;
    const ConnectionCost cost =
        network.add(route_of(mapped, connection, number.value - from.first_out.value, schedule, placement),
                    [&](std::span<const LinkId> path) { return costs.connection(from.agent, to, path); });
    connection.cost = intern(mapped.connection_costs, cost);
  }
  mapped.network = network.take();
  return mapped;
}

}  // namespace athanor
