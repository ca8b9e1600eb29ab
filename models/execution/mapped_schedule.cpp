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
    lane.like_ins = entry->second.ins;
    lane.like_outs = entry->second.outs;
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

void add_lanes(MappedSchedule& mapped, const Schedule& schedule, const CostModel& costs) {
  const std::uint32_t agents = schedule.roster().agents;
  std::uint32_t ins = 0;
  std::uint32_t outs = 0;
  LikePorts like(schedule);
  for (AgentId agent{0}; agent.value < agents; ++agent.value) {
    mapped.first_lane.push_back(static_cast<std::uint32_t>(mapped.lanes.size()));
    const std::uint32_t cost = intern(mapped.agent_costs, costs.agent(agent));
    const std::uint32_t lanes = schedule.lanes(agent);
    for (LaneId id{0}; id.value < lanes; ++id.value) {
      const athanor::Lane lane = schedule.lane(agent, id);
      mapped.lane_of.push_back(static_cast<std::uint32_t>(mapped.lanes.size()));
      mapped.lanes.push_back({agent, id, lane.steps, lane.loops, ins, lane.in_ports, outs, lane.out_ports, cost});
      like.find(mapped.lanes.back(), lane.program);
      ins += lane.in_ports;
      outs += lane.out_ports;
    }
  }
  mapped.in_connections.assign(ins, 0);
  mapped.connections.reserve(outs);
}

/// Opens the connections of one schedule, one after the other.
class Connecting {
 public:
  Connecting(MappedSchedule& mapped, const Schedule& schedule, const Cluster& cluster, const Placement& placement,
             const CostModel& costs)
      : mapped_(mapped),
        schedule_(schedule),
        placement_(placement),
        costs_(costs),
        network_(cluster, placement.queue_pairs) {}

  void add(std::uint32_t index, PortId port) {
    const MappedSchedule::Lane& lane = mapped_.lanes[index];
    const Endpoint to = schedule_.target(lane.agent, lane.lane, port);
    const auto connection = static_cast<std::uint32_t>(mapped_.connections.size());
    const std::uint32_t target = mapped_.lane_of[mapped_.first_lane[to.agent.value] + to.lane.value];
    const ConnectionCost cost = network_.add(route(lane, port, to), [&](std::span<const LinkId> path) {
      return costs_.connection(lane.agent, to.agent, path);
    });
    mapped_.connections.push_back({index, target, to.port.value, intern(mapped_.connection_costs, cost)});
    mapped_.in_connections[mapped_.lanes[target].first_in + to.port.value] = connection;
  }

  FabricConnections take() { return network_.take(); }

 private:
  RouteRequest route(const MappedSchedule::Lane& lane, PortId port, const Endpoint& to) const {
    const std::uint64_t flow = (placement_.seed << 32U) ^ (std::uint64_t{lane.lane.value} << 8U) ^ port.value;
    RouteRequest request{placement_.vertices[lane.agent.value], placement_.vertices[to.agent.value], flow};
    const std::uint32_t channel = schedule_.channel(lane.agent, lane.lane);
    request.channel = channel + port.value;
    if (!placement_.nic_users.empty()) {
      const auto& users = placement_.nic_users;
      request.nics = nics_between(users[lane.agent.value], users[to.agent.value], channel);
    }
    return request;
  }

  MappedSchedule& mapped_;
  const Schedule& schedule_;
  const Placement& placement_;
  const CostModel& costs_;
  ConnectionBuilder network_;
};

}  // namespace

MappedSchedule lay_out(const Schedule& schedule, const Cluster& cluster, const Placement& placement,
                       const CostModel& costs) {
  require(placement.vertices.size() == schedule.roster().agents, "{} places for {} agents", placement.vertices.size(),
          schedule.roster().agents);
  MappedSchedule mapped;
  add_lanes(mapped, schedule, costs);
  Connecting connecting(mapped, schedule, cluster, placement, costs);
  for (std::uint32_t index = 0; index < mapped.lanes.size(); ++index) {
    for (PortId port{0}; port.value < mapped.lanes[index].out_ports; ++port.value) { connecting.add(index, port); }
  }
  mapped.network = connecting.take();
  return mapped;
}

}  // namespace athanor
