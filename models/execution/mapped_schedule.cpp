#include "models/execution/mapped_schedule.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "models/execution/layout_parts.hpp"
#include "models/execution/partition.hpp"
#include "models/execution/refinement.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

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
    const ConnectionCost cost = network.add(
        route_request(schedule, placement, from.agent, from.lane, PortId{number.value - from.first_out.value}, to),
        [&](std::span<const LinkId> path) { return costs.connection(from.agent, to, path); });
    connection.cost = intern(mapped.connection_costs, cost);
  }
  mapped.network = network.take();
  return mapped;
}

namespace {

class Folding {
 public:
  /// `members`: where it is a quotient.
  Folding(const MappedSchedule& whole, const EqualClasses& classes, const MemberCounts* members = nullptr)
      : whole_(whole),
        members_(members),
        lanes_(classes.lanes),
        connections_(classes.connections),
        links_(classes.links),
        link_members_(links_.member.size()),
        connection_members_(connections_.members) {
    for (const LinkIndex link : whole.network.links.ids()) {
      link_members_[links_.of[link.value]] += whole.network.link_members[link];
    }
    count_slack_crossings();
    if (members == nullptr) { return; }
    std::fill(connection_members_.begin(), connection_members_.end(), 0);
    for (std::size_t i = 0; i < members->connections.size(); ++i) {
      connection_members_[connections_.of[i]] += members->connections[i];
    }
  }

  MappedSchedule fold() {
    folded_.starts = whole_.starts;
    folded_.in_calls = whole_.in_calls;
    folded_.agent_costs = whole_.agent_costs;
    folded_.connection_costs = whole_.connection_costs;
    folded_.first_lane = whole_.first_lane;
    folded_.network.queue_pairs = whole_.network.queue_pairs;
    for (const LaneIndex lane : whole_.lane_of) { folded_.lane_of.push_back(LaneIndex{lanes_.of[lane.value]}); }
    add_all_links();
    for (std::size_t i = 0; i < links_.member.size(); ++i) {
      folded_.network.links.push_back(whole_.network.links[LinkIndex{links_.member[i]}]);
      folded_.network.link_members.push_back(link_members_[i]);
      folded_.network.graph.links.push_back(whole_.network.graph.links[LinkIndex{links_.member[i]}]);
    }
    for (const std::uint32_t member : lanes_.member) { add_lane(whole_.lanes[LaneIndex{member}]); }
    folded_.in_connections.resize(in_classes_.size());
    for (const ConnectionId connection : out_members_.ids()) { add_connection(connection); }
    return std::move(folded_);
  }

 private:
  /// With a port for each that is told apart: of its connections, those of one class once.
  void add_lane(MappedSchedule::Lane lane) {
    std::vector<ConnectionId> ins;
    for (std::uint32_t port = 0; port < lane.in_ports; ++port) {
      ins.push_back(whole_.in_connections[lane.first_in + port]);
    }
    std::vector<ConnectionId> outs;
    for (std::uint32_t port = 0; port < lane.out_ports; ++port) {
      outs.push_back(ConnectionId{lane.first_out.value + port});
    }
    if (lane.symmetric_inputs) { ins = one_of_each_class(ins); }
    if (lane.symmetric_outputs) { outs = one_of_each_class(outs); }
    lane.first_in = static_cast<std::uint32_t>(in_classes_.size());
    lane.in_ports = static_cast<std::uint32_t>(ins.size());
    lane.first_out = out_members_.next();
    lane.out_ports = static_cast<std::uint32_t>(outs.size());
    for (const ConnectionId connection : ins) { in_classes_.push_back(class_of(connection)); }
    for (const ConnectionId connection : outs) { out_members_.push_back(connection); }
    folded_.lanes.push_back(lane);
  }

  std::uint32_t class_of(ConnectionId connection) const { return connections_.of[connection.value]; }

  std::vector<ConnectionId> one_of_each_class(const std::vector<ConnectionId>& connections) const {
    std::vector<ConnectionId> first;
    std::set<std::uint32_t> seen;
    for (const ConnectionId connection : connections) {
      if (seen.insert(class_of(connection)).second) { first.push_back(connection); }
    }
    return first;
  }

  void add_connection(ConnectionId number) {
    const ConnectionId old = out_members_[number];
    MappedSchedule::Connection connection = whole_.connections[old];
    connection.source_lane = LaneIndex{lanes_.of[connection.source_lane.value]};
    connection.target_lane = LaneIndex{lanes_.of[connection.target_lane.value]};
    const MappedSchedule::Lane& target = folded_.lanes[connection.target_lane];
    if (target.symmetric_inputs) { connection.target_port = port_of(target, class_of(old)); }
    folded_.in_connections[target.first_in + connection.target_port] = number;
    folded_.connections.push_back(connection);
    std::size_t pair_number = std::size_t{class_of(old)} * whole_.network.queue_pairs;
    for (const FlowGraph::Connection& pair : whole_.network.pairs_of(old)) {
      add_pair(pair, old, slack_crossings_[pair_number++]);
    }
  }

  std::uint32_t port_of(const MappedSchedule::Lane& target, std::uint32_t connection_class) const {
    const auto first = in_classes_.begin() + target.first_in;
    const auto found = std::find(first, first + target.in_ports, connection_class);
    require(found != first + target.in_ports, "no in-port of class {} in the class of its lane", connection_class);
    return static_cast<std::uint32_t>(found - first);
  }

  void add_all_links() {
    const bool whole = whole_.network.all_links.empty();
    folded_.network.all_links = whole ? whole_.network.links : whole_.network.all_links;
    if (whole) {
      for (const std::uint32_t each : links_.of) { folded_.network.class_of_link.push_back(LinkIndex{each}); }
    }
    for (const LinkIndex each : whole_.network.class_of_link) {
      folded_.network.class_of_link.push_back(LinkIndex{links_.of[each.value]});
    }
  }

  /// Members of one class may cross slack links of different classes.
  void count_slack_crossings() {
    slack_crossings_.resize(connections_.member.size() * whole_.network.queue_pairs);
    for (const ConnectionId connection : whole_.connections.ids()) {
      std::size_t number = std::size_t{class_of(connection)} * whole_.network.queue_pairs;
      for (const FlowGraph::Connection& pair : whole_.network.pairs_of(connection)) {
        auto& crossings = slack_crossings_[number++];
        whole_.network.each_slack_use(pair, [&](const FlowGraph::Use& use) {
          count_crossing(crossings, links_.of[use.link.value],
                         std::uint64_t{use.flows} * whole_.network.link_members[use.link]);
        });
      }
    }
  }

  /// How many links one connection crosses there.
  std::uint64_t times(ConnectionId connection, const FlowGraph::Use& use) const {
    if (members_ == nullptr) { return 1; }
    const std::uint64_t crossings = std::uint64_t{use.flows} * whole_.network.link_members[use.link];
    return crossings / members_->connections[connection.value];
  }

  /// `slack`: by class of links, how often members of the pair's class cross them.
  void add_pair(FlowGraph::Connection pair, ConnectionId connection, const LinkCrossings& slack) {
    std::map<std::uint32_t, std::uint64_t> crossed;  // by class of links: how many links of each class are on the path
    for (const FlowGraph::Use& use : whole_.network.path_of(pair)) {
      const bool is_slack = whole_.network.graph.links[use.link].slack;
      crossed[links_.of[use.link.value]] += is_slack ? 0 : times(connection, use);
    }
    pair.first_use = static_cast<std::uint32_t>(folded_.network.graph.uses.size());
    pair.uses = static_cast<std::uint32_t>(crossed.size());
    for (const auto& [link, times] : crossed) { add_use(link, connection_members_[class_of(connection)] * times); }
    pair.beside = static_cast<std::uint32_t>(slack.size());
    for (const auto& [link, crossings] : slack) { add_use(link, crossings); }
    folded_.network.graph.connections.push_back(pair);
  }

  void add_use(std::uint32_t link, std::uint64_t crossings) {
    require(crossings % link_members_[link] == 0, "{} crossings of {} equal links are not spread evenly", crossings,
            link_members_[link]);
    folded_.network.graph.uses.push_back(
        {LinkIndex{link}, static_cast<std::uint32_t>(crossings / link_members_[link])});
  }

  const MappedSchedule& whole_;
  const MemberCounts* members_;
  ClassMembers lanes_;
  ClassMembers connections_;
  ClassMembers links_;
  std::vector<std::uint32_t> link_members_;           ///< by class: of the whole
  std::vector<std::uint32_t> connection_members_;     ///< likewise
  std::vector<LinkCrossings> slack_crossings_;        ///< by queue pair of each class of connections
  std::vector<std::uint32_t> in_classes_;             ///< by in-port of the quotient: the class of its connection
  IdVector<ConnectionId, ConnectionId> out_members_;  ///< by connection of the quotient: one of the whole
  MappedSchedule folded_;
};

}  // namespace

MappedSchedule fold(const MappedSchedule& whole, const Schedule& schedule) {
  return Folding(whole, equal_classes(whole, schedule)).fold();
}

MappedSchedule fold_further(const MappedSchedule& quotient, const Schedule& schedule, const MemberCounts& members) {
  return Folding(quotient, equal_classes(quotient, schedule, members), &members).fold();
}

}  // namespace athanor
