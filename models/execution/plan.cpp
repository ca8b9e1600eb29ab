#include "models/execution/plan.hpp"

#include <algorithm>

#include "models/execution/path_layout.hpp"
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

void add_lanes(Plan& plan, const Schedule& schedule, const CostModel& costs) {
  const std::uint32_t agents = schedule.roster().agents;
  std::uint32_t ins = 0;
  std::uint32_t outs = 0;
  for (AgentId agent{0}; agent.value < agents; ++agent.value) {
    plan.first_lane.push_back(static_cast<std::uint32_t>(plan.lanes.size()));
    const std::uint32_t cost = intern(plan.agent_costs, costs.agent(agent));
    const std::uint32_t lanes = schedule.lanes(agent);
    for (LaneId id{0}; id.value < lanes; ++id.value) {
      const athanor::Lane lane = schedule.lane(agent, id);
      plan.lane_of.push_back(static_cast<std::uint32_t>(plan.lanes.size()));
      plan.lanes.push_back({agent, id, lane.steps, lane.loops, ins, lane.in_ports, outs, lane.out_ports, cost});
      ins += lane.in_ports;
      outs += lane.out_ports;
    }
  }
  plan.in_connections.assign(ins, 0);
  plan.connections.reserve(outs);
}

/// Lays out the connections of one schedule, one after the other.
class Connecting {
 public:
  Connecting(Plan& plan, const Schedule& schedule, const Cluster& cluster, const Placement& placement,
             const CostModel& costs)
      : plan_(plan), schedule_(schedule), placement_(placement), costs_(costs), paths_(plan, cluster) {}

  void add(std::uint32_t index, PortId port) {
    const Plan::Lane& lane = plan_.lanes[index];
    const Endpoint to = schedule_.target(lane.agent, lane.lane, port);
    const auto connection = static_cast<std::uint32_t>(plan_.connections.size());
    const std::uint32_t target = plan_.lane_of[plan_.first_lane[to.agent.value] + to.lane.value];
    const std::uint64_t flow = (placement_.seed << 32U) ^ (std::uint64_t{lane.lane.value} << 8U) ^ port.value;
    const ConnectionCost cost =
        paths_.add(placement_.vertices[lane.agent.value], placement_.vertices[to.agent.value], flow,
                   [&](std::span<const LinkId> path) { return costs_.connection(lane.agent, to.agent, path); });
    plan_.connections.push_back({index, target, to.port.value, intern(plan_.connection_costs, cost)});
    plan_.in_connections[plan_.lanes[target].first_in + to.port.value] = connection;
  }

 private:
  Plan& plan_;
  const Schedule& schedule_;
  const Placement& placement_;
  const CostModel& costs_;
  PathLayout paths_;
};

}  // namespace

Time Plan::latency(std::uint32_t connection) const {
  Time longest;
  for (std::size_t pair = 0; pair < queue_pairs; ++pair) {
    longest = std::max(longest, network.connections[std::size_t{connection} * queue_pairs + pair].latency);
  }
  return longest;
}

Plan lay_out(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs) {
  require(placement.vertices.size() == schedule.roster().agents, "{} places for {} agents", placement.vertices.size(),
          schedule.roster().agents);
  Plan plan;
  plan.queue_pairs = placement.queue_pairs;
  add_lanes(plan, schedule, costs);
  Connecting connecting(plan, schedule, cluster, placement, costs);
  for (std::uint32_t index = 0; index < plan.lanes.size(); ++index) {
    for (PortId port{0}; port.value < plan.lanes[index].out_ports; ++port.value) { connecting.add(index, port); }
  }
  return plan;
}

}  // namespace athanor
