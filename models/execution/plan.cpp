#include "models/execution/plan.hpp"

#include <algorithm>

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

/// Fabric links get numbers in the plan in the order in which connections first cross them.
class LinkNumbers {
 public:
  LinkNumbers(const Fabric& fabric, Plan& plan) : fabric_(fabric), plan_(plan), numbers_(fabric.links(), kNone) {}

  std::uint32_t number(LinkId link) {
    std::uint32_t& number = numbers_[link.value];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(plan_.links.size());
      plan_.links.push_back(link);
      plan_.link_members.push_back(1);
      plan_.network.links.push_back({fabric_.link(link).usable});
    }
    return number;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  const Fabric& fabric_;
  Plan& plan_;
  std::vector<std::uint32_t> numbers_;
};

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

std::uint64_t flow_key(const Plan::Lane& lane, std::uint32_t port, std::uint64_t seed) {
  return (seed << 32U) ^ (std::uint64_t{lane.lane.value} << 8U) ^ port;
}

}  // namespace

Plan lay_out(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs) {
  require(placement.vertices.size() == schedule.roster().agents, "{} places for {} agents", placement.vertices.size(),
          schedule.roster().agents);
  Plan plan;
  add_lanes(plan, schedule, costs);
  LinkNumbers numbers(*cluster.fabric, plan);
  std::vector<LinkId> path;
  for (std::uint32_t index = 0; index < plan.lanes.size(); ++index) {
    const Plan::Lane& lane = plan.lanes[index];
    for (PortId port{0}; port.value < lane.out_ports; ++port.value) {
      const Endpoint to = schedule.target(lane.agent, lane.lane, port);
      path.clear();
      cluster.router->route({placement.vertices[lane.agent.value],
                             placement.vertices[to.agent.value],
                             flow_key(lane, port.value, placement.seed),
                             {}},
                            path);
      const ConnectionCost cost = costs.connection(lane.agent, to.agent, path);
      Time latency = cost.latency;
      const auto first_use = static_cast<std::uint32_t>(plan.network.uses.size());
      for (const LinkId link : path) {
        latency += cluster.fabric->link(link).latency;
        plan.network.uses.push_back({numbers.number(link), 1});
      }
      const auto connection = static_cast<std::uint32_t>(plan.connections.size());
      const std::uint32_t target = plan.lane_of[plan.first_lane[to.agent.value] + to.lane.value];
      plan.network.connections.push_back(
          {latency, cost.cap, cost.grain, first_use, static_cast<std::uint32_t>(path.size())});
      plan.connections.push_back({index, target, to.port.value, intern(plan.connection_costs, cost)});
      plan.in_connections[plan.lanes[target].first_in + to.port.value] = connection;
    }
  }
  return plan;
}

}  // namespace athanor
