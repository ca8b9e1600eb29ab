#include "models/execution/schedule_sample.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "models/execution/layout_parts.hpp"
#include "models/execution/primitive_costs.hpp"
#include "models/network/work_count.hpp"
#include "sim/random.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

// At most so many are looked at.
constexpr std::uint32_t kSpreadAgents = 12;  // all over the cluster
constexpr std::uint32_t kNeighbours = 8;     // of one node
constexpr std::uint32_t kNodes = 16;
constexpr std::uint32_t kLanes = 8;   // of an agent
constexpr std::uint32_t kSteps = 16;  // of a loop
constexpr std::uint32_t kSends = 2;   // of a primitive, or a lane

/// Places of a ring are one distance from those they send to, of a torus two, since some wrap round: those of trees
/// have one for each level.
constexpr std::size_t kDistancesOfGrids = 2;

constexpr double kKnown = 0.15;  // of what is seen until a flow has settled, where it has before: 7 rows of some 48

/// Numbers below `count`, at most so many: one of each part of them, drawn, since what is regular may have any period.
struct Spread {
  std::uint64_t count = 0;
  std::uint64_t looked_at = 0;
  std::uint64_t seed = 0;

  Spread(std::uint64_t all, std::uint64_t most, std::uint64_t drawn_by = 0)
      : count(all), looked_at(std::min(all, most)), seed(drawn_by) {}
  std::uint64_t at(std::uint64_t i) const {
    const std::uint64_t first = i * count / looked_at;
    return first + scale_hash(join_hash(join_hash(seed, count), i), (i + 1) * count / looked_at - first);
  }
  double weight() const { return static_cast<double>(count) / static_cast<double>(looked_at); }
};

double rate_of(const Link& link) { return static_cast<double>(link.usable.count()); }

/// Looks at agents of one schedule.
class Sampler {
 public:
  Sampler(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs,
          Bytes packet)
      : schedule_(schedule), cluster_(cluster), placement_(placement), costs_(costs), packet_(packet) {}

  ScheduleSample take() {
    const AgentCount count = schedule_.agent_count();
    result_.agents = count.agents;
    spread(0, count.ranks);
    spread(count.ranks, count.agents);
    look_at_neighbours(count.ranks);
    compare_nodes(count.ranks);
    result_.kinds = static_cast<double>(kinds_.size());
    return result_;
  }

 private:
  void spread(std::uint32_t first, std::uint32_t end) {
    if (first == end) { return; }
    const Spread agents(end - first, kSpreadAgents);
    for (std::uint64_t i = 0; i < agents.looked_at; ++i) {
      look_at(AgentId{static_cast<std::uint32_t>(first + agents.at(i))}, agents.weight());
    }
  }

  void look_at(AgentId agent, double weight) {
    const Spread lanes(schedule_.lanes(agent), kLanes, agent.value);
    for (std::uint64_t i = 0; i < lanes.looked_at; ++i) {
      look_at(agent, LaneId{static_cast<std::uint32_t>(lanes.at(i))}, weight * lanes.weight());
    }
  }

  void look_at(AgentId agent, LaneId number, double weight) {
    const Lane lane = schedule_.lane(agent, number);
    result_.lanes += weight;
    result_.connections += weight * lane.out_ports;
    result_.primitives += weight * static_cast<double>(lane.loops) * lane.steps;
    result_.steps = std::max(result_.steps, static_cast<double>(lane.steps));
    if (lane.loops == 0) { return; }
    result_.repeated += weight * static_cast<double>(lane.loops - 1) * lane.steps;
    sending_ = 0;
    if (lane.loops > 1) { look_at_loop(agent, number, lane, 0, weight * static_cast<double>(lane.loops - 1)); }
    look_at_loop(agent, number, lane, lane.loops - 1, weight);
    result_.sending = std::max(result_.sending, sending_ / weight);
    look_at_first_messages(agent, number, lane, weight);
  }

  void look_at_loop(AgentId agent, LaneId number, const Lane& lane, std::uint64_t loop, double weight) {
    const Spread steps(lane.steps, kSteps, join_hash(agent.value, number.value));
    for (std::uint64_t i = 0; i < steps.looked_at; ++i) {
      const Primitive primitive = schedule_.at(agent, number, loop, static_cast<std::uint32_t>(steps.at(i)));
      result_.waits = result_.waits || primitive.wait.has_value();
      const Spread sends(primitive.sends.count, kSends);
      for (std::uint64_t k = 0; k < sends.looked_at; ++k) {
        const PortId port{primitive.sends.first + static_cast<std::uint32_t>(sends.at(k))};
        send(agent, number, port, primitive.count, weight * steps.weight() * sends.weight());
      }
    }
  }

  void send(AgentId agent, LaneId lane, PortId port, Elements count, double weight) {
    const Way& way = way_of(agent, lane, port);
    const Bytes bytes = wire_bytes(costs_.element_size() * count.count(), way.cost);
    const auto packets = static_cast<double>(std::max<std::int64_t>(1, ceil_div(bytes.count(), packet_.count())));
    result_.messages += weight;
    sending_ += weight * static_cast<double>(bytes.count()) / way.rate;
    result_.latency = std::max(result_.latency, way.latency);
    result_.packet_links += weight * packets * way.links;
    result_.settling += weight * std::min(packets, way.unsettled * kKnown) * way.links;
    result_.waits = result_.waits || way.cost.grain > Bytes::zero() || way.cost.eager < Bytes::max();
  }

  /// A connection has to settle anew with each of its messages, but after the first one what it settles at is known.
  void look_at_first_messages(AgentId agent, LaneId number, const Lane& lane, double weight) {
    const Spread ports(lane.out_ports, kSends);
    for (std::uint64_t k = 0; k < ports.looked_at; ++k) {
      const Way& way = way_of(agent, number, PortId{static_cast<std::uint32_t>(ports.at(k))});
      result_.settling += weight * ports.weight() * way.unsettled * way.links;
      result_.links_crossed += weight * ports.weight() * way.links;
    }
  }

  struct Way {
    double links = 0;
    double rate = 0;       ///< bytes a second, alone
    double latency = 0;    ///< seconds
    double unsettled = 0;  ///< packets, until it has settled
    ConnectionCost cost;
    std::vector<LinkId> path;
  };
  const Way& way_of(AgentId agent, LaneId lane, PortId port) {
    const auto [found, fresh] = ways_.try_emplace({agent.value, lane.value, port.value});
    if (!fresh) { return found->second; }
    const AgentId to = schedule_.target(agent, lane, port).agent;
    Way& way = found->second;
    cluster_.router->route(route_request(schedule_, placement_, agent, lane, port, to), way.path);
    way.links = static_cast<double>(way.path.size());
    way.cost = costs_.connection(agent, to, way.path);
    const auto packet = static_cast<double>(packet_.count());
    double round_trip = 0;
    Bandwidth rate = way.cost.cap;
    for (const LinkId link : way.path) {
      const Link& own = cluster_.fabric->link(link);
      rate = std::min(rate, own.usable);
      way.latency += seconds(own.latency);
      round_trip += packet / rate_of(own);
    }
    round_trip += 2 * way.latency;
    way.rate = static_cast<double>(rate.count());
    way.unsettled = packets_until_settled(round_trip, way.rate, packet);
    return way;
  }

  /// What lanes of one node are like, and whether their connections fill links together.
  void look_at_neighbours(std::uint32_t ranks) {
    const std::uint32_t node = std::max(cluster_.endpoints_per_node, 1U);
    const std::uint32_t first = ranks / 2 / node * node;
    const std::uint32_t end = std::min({ranks, first + node, first + kNeighbours});
    std::map<std::uint32_t, double> wanted;  // bytes a second, by link
    for (AgentId agent{first}; agent.value < end; ++agent.value) {
      for (LaneId lane{0}; lane.value < schedule_.lanes(agent); ++lane.value) { count_kind(agent, lane); }
      const Spread lanes(schedule_.lanes(agent), 2 * kLanes);
      for (std::uint64_t i = 0; i < lanes.looked_at; ++i) {
        add_rates(agent, LaneId{static_cast<std::uint32_t>(lanes.at(i))}, lanes.weight(), wanted);
      }
    }
    const Fabric& fabric = *cluster_.fabric;
    for (const auto& [link, rate] : wanted) {
      result_.crowding = std::max(result_.crowding, rate / rate_of(fabric.link(LinkId{link})));
    }
    result_.filled = result_.crowding > 1.001;
  }

  void compare_nodes(std::uint32_t ranks) {
    const std::uint32_t node = std::max(cluster_.endpoints_per_node, 1U);
    const Spread nodes(ranks / node, kNodes);
    std::set<std::uint64_t> shapes;
    Distances distances;
    for (std::uint64_t i = 0; i < nodes.looked_at; ++i) {
      const auto first = static_cast<std::uint32_t>(nodes.at(i) * node);
      std::uint64_t shape = 0;
      for (AgentId agent{first}; agent.value < first + std::min(node, kNeighbours); ++agent.value) {
        for (LaneId lane{0}; lane.value < schedule_.lanes(agent); ++lane.value) {
          shape = join_hash(shape, schedule_.lane(agent, lane).out_ports);
          add_distances(agent, lane, first, ranks, distances);
        }
      }
      shapes.insert(shape);
    }
    const auto many = [](const auto& of_port) { return of_port.second.size() > kDistancesOfGrids; };
    result_.uneven = shapes.size() > 1 || std::any_of(distances.begin(), distances.end(), many);
  }

  /// In ranks, round the circle: by place in the node, lane and port.
  using Distances = std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::set<std::uint32_t>>;
  void add_distances(AgentId agent, LaneId lane, std::uint32_t first, std::uint32_t ranks, Distances& distances) const {
    const std::uint32_t ports = std::min(schedule_.lane(agent, lane).out_ports, kSends);
    for (PortId port{0}; port.value < ports; ++port.value) {
      const std::uint32_t to = schedule_.target(agent, lane, port).agent.value;
      const std::uint32_t apart = std::max(to, agent.value) - std::min(to, agent.value);
      if (to >= ranks) { continue; }  // no rank, but an engine
      distances[{agent.value - first, lane.value, port.value}].insert(std::min(apart, ranks - apart));
    }
  }

  void count_kind(AgentId agent, LaneId number) {
    const Lane lane = schedule_.lane(agent, number);
    kinds_.insert({agent.value, lane.program.value, lane.loops, lane.steps, lane.out_ports});
  }

  void add_rates(AgentId agent, LaneId lane, double weight, std::map<std::uint32_t, double>& wanted) {
    const Spread ports(schedule_.lane(agent, lane).out_ports, kSends);
    for (std::uint64_t k = 0; k < ports.looked_at; ++k) {
      const Way& way = way_of(agent, lane, PortId{static_cast<std::uint32_t>(ports.at(k))});
      const double all = weight * ports.weight() * way.rate;
      for (const LinkId link : way.path) { wanted[link.value] += all; }
    }
  }

  const Schedule& schedule_;
  const Cluster& cluster_;
  const Placement& placement_;
  const CostModel& costs_;
  Bytes packet_;
  ScheduleSample result_;
  double sending_ = 0;  ///< of the lane that is looked at, times its weight
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t, std::uint32_t>> kinds_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Way> ways_;
};

}  // namespace

ScheduleSample sample(const Schedule& schedule, const Cluster& cluster, const Placement& placement,
                      const CostModel& costs, Bytes packet) {
  return Sampler(schedule, cluster, placement, costs, packet).take();
}

}  // namespace athanor
