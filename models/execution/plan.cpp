#include "models/execution/plan.hpp"

#include <algorithm>

#include "models/execution/adaptive_routes.hpp"
#include "sim/check.hpp"
#include "sim/random.hpp"

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

/// Of equal flows the first has the number that it has alone.
std::uint64_t flow_key(const Plan::Lane& lane, std::uint32_t port, std::uint64_t seed, std::uint32_t pair) {
  const std::uint64_t key = (seed << 32U) ^ (std::uint64_t{lane.lane.value} << 8U) ^ port;
  return pair == 0 ? key : join_hash(key, pair);
}

/// Lays out the connections of one schedule, one after the other.
class Connecting {
 public:
  Connecting(Plan& plan, const Schedule& schedule, const Cluster& cluster, const Placement& placement,
             const CostModel& costs)
      : plan_(plan),
        schedule_(schedule),
        cluster_(cluster),
        placement_(placement),
        costs_(costs),
        numbers_(*cluster.fabric, plan),
        routes_(*cluster.router, *cluster.fabric) {}

  void add(std::uint32_t index, PortId port) {
    const Plan::Lane& lane = plan_.lanes[index];
    const Endpoint to = schedule_.target(lane.agent, lane.lane, port);
    const auto connection = static_cast<std::uint32_t>(plan_.connections.size());
    const std::uint32_t target = plan_.lane_of[plan_.first_lane[to.agent.value] + to.lane.value];
    ConnectionCost cost;
    for (std::uint32_t pair = 0; pair < plan_.queue_pairs; ++pair) {
      path_.clear();
      routes_.open({placement_.vertices[lane.agent.value],
                    placement_.vertices[to.agent.value],
                    flow_key(lane, port.value, placement_.seed, pair),
                    {}},
                   path_);
      if (pair == 0) { cost = costs_.connection(lane.agent, to.agent, path_); }
      add_pair(cost);
    }
    plan_.connections.push_back({index, target, to.port.value, intern(plan_.connection_costs, cost)});
    plan_.in_connections[plan_.lanes[target].first_in + to.port.value] = connection;
  }

 private:
  /// A share of what the whole connection may take, and of its first grain, on the present path.
  void add_pair(const ConnectionCost& cost) {
    Time latency = cost.latency;
    const auto first_use = static_cast<std::uint32_t>(plan_.network.uses.size());
    for (const LinkId link : path_) {
      latency += cluster_.fabric->link(link).latency;
      plan_.network.uses.push_back({numbers_.number(link), 1});
    }
    const bool capped = cost.cap != Bandwidth::max();
    const Bandwidth cap = capped ? std::max(cost.cap / plan_.queue_pairs, Bandwidth{1}) : cost.cap;
    const Bytes grain{ceil_div(cost.grain.count(), plan_.queue_pairs)};
    plan_.network.connections.push_back({latency, cap, grain, first_use, static_cast<std::uint32_t>(path_.size())});
  }

  Plan& plan_;
  const Schedule& schedule_;
  const Cluster& cluster_;
  const Placement& placement_;
  const CostModel& costs_;
  LinkNumbers numbers_;
  AdaptiveRoutes routes_;
  std::vector<LinkId> path_;
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
  require(placement.queue_pairs > 0, "connections of no queue pair");
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
