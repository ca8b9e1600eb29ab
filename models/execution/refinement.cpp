#include "models/execution/refinement.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "models/execution/partition.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// At which distances from their own lane the primitives of each program wait for others of their agent.
using WaitDistances = std::map<ProgramId, std::set<std::int64_t>>;

bool one_lane_each(const MappedSchedule& whole) {
  const auto together = [](const MappedSchedule::Lane& a, const MappedSchedule::Lane& b) { return a.agent == b.agent; };
  return std::adjacent_find(whole.lanes.begin(), whole.lanes.end(), together) == whole.lanes.end();
}

WaitDistances wait_distances(const MappedSchedule& whole, const Schedule& schedule) {
  WaitDistances distances;
  const bool alone = one_lane_each(whole);  // nobody to wait for
  for (const MappedSchedule::Lane& lane : whole.lanes) {
    const auto [entry, fresh] = distances.try_emplace(schedule.lane(lane.agent, lane.lane).program);
    if (!fresh || alone) { continue; }
    for (const std::uint64_t loop : std::set<std::uint64_t>{0, lane.loops - 1}) {
      if (loop >= lane.loops) { continue; }
      for (std::uint32_t step = 0; step < lane.steps; ++step) {
        const std::optional<Wait> wait = schedule.at(lane.agent, lane.lane, loop, step).wait;
        if (wait) { entry->second.insert(std::int64_t{wait->lane.value} - std::int64_t{lane.lane.value}); }
      }
    }
  }
  return distances;
}

std::vector<Colour> first_colours(const MappedSchedule& whole, const Schedule& schedule) {
  std::vector<Colour> colours;
  for (const MappedSchedule::Lane& lane : whole.lanes) {
    const ProgramId program = schedule.lane(lane.agent, lane.lane).program;
    Colour colour = mix(mix(program.value, lane.cost), lane.start.value);
    colour = mix(mix(colour, lane.steps), lane.loops);
    // Of ports that are alike a quotient has fewer, and all lanes of a program have equally many.
    colour = mix(colour, lane.symmetric_inputs ? 0 : lane.in_ports);
    colours.push_back(mix(colour, lane.symmetric_outputs ? 0 : lane.out_ports));
  }
  return colours;
}

std::vector<Colour> first_colours(const IdVector<LinkIndex, FlowGraph::Link>& links) {
  std::vector<Colour> colours;
  for (const FlowGraph::Link& link : links) {
    colours.push_back(mix(mix(1, static_cast<Colour>(link.rate.count())), link.slack ? 1 : 0));
  }
  return colours;
}

/// Colour refinement (one-dimensional Weisfeiler-Leman) of lanes, connections and links, until nothing splits. Only
/// what is next to something that moved to another class is looked at again: classes may split one after the other in
/// many rounds, of which each concerns few.
class Refinement {
 public:
  /// `members`: of a quotient; null: every lane, connection and link stands for itself.
  Refinement(const MappedSchedule& whole, const Schedule& schedule, const std::vector<Colour>& apart,
             const MemberCounts* members)
      : whole_(whole),
        members_(members),
        distances_(wait_distances(whole, schedule)),
        lanes_(first_colours(whole, schedule)),
        connections_(apart),
        links_(first_colours(whole.network.graph.links)),
        sums_(whole.network.graph.links.size()),
        open_lanes_(whole.lanes.size()),
        open_connections_(whole.connections.size()),
        open_links_(whole.network.graph.links.size()) {
    for (const MappedSchedule::Lane& lane : whole.lanes) {
      waits_.push_back(&distances_.at(schedule.lane(lane.agent, lane.lane).program));
    }
    for (const auto& [program, distances] : distances_) { every_distance_.insert(distances.begin(), distances.end()); }
    list_users();
    if (members != nullptr) { list_waiting(); }
    if (whole.in_calls) { list_agents(); }
    refine();
  }

  EqualClasses classes() const { return {lanes_.all(), connections_.all(), links_.all()}; }

 private:
  void refine() {
    open_connections_.add_all();
    connections_.split(open_connections_.take(), colours_of_all_connections());
    for (const ConnectionId connection : whole_.connections.ids()) {
      add_to_links(connection, connections_.of(connection.value), 1);
    }
    if (whole_.in_calls) {
      for (const LaneIndex lane : whole_.lanes.ids()) { add_to_agent(lane, lanes_.of(lane.value), 1); }
    }
    open_links_.add_all();
    open_lanes_.add_all();
    do {
      split_links();
      split_lanes();
      split_connections();
    } while (!open_links_.empty() || !open_lanes_.empty());
    split_slack_links();
  }

  /// By what crosses them, which they tell nothing of, and where on its path. Those of a quotient stay as they are.
  void split_slack_links() {
    const auto& links = whole_.network.graph.links;
    if (std::none_of(links.begin(), links.end(), [](const FlowGraph::Link& link) { return link.slack; })) { return; }
    std::vector<Colour> sums(links.size());
    for (const LinkIndex link : links.ids()) {
      if (members_ != nullptr && links[link].slack) { sums[link.value] = mix(1, link.value); }
    }
    for (const ConnectionId connection : whole_.connections.ids()) {
      each_pair(connection, [&](const FlowGraph::Connection& pair, Colour number) {
        Colour place = number << 32U;
        for (const FlowGraph::Use& use : whole_.network.path_of(pair)) {
          ++place;
          if (members_ != nullptr || !is_slack(use)) { continue; }
          sums[use.link.value] += mix(mix(1, connections_.of(connection.value)), place);
        }
      });
    }
    open_links_.add_all();
    links_.split(open_links_.take(), sums);
  }

  std::vector<Colour> colours_of_all_connections() const {
    std::vector<Colour> colours;
    colours.reserve(whole_.connections.size());
    for (const ConnectionId connection : whole_.connections.ids()) {
      colours.push_back(colour_of_connection(connection));
    }
    return colours;
  }

  void split_connections() {
    const std::vector<std::uint32_t> open = open_connections_.take();
    std::vector<Colour> colours;
    for (const std::uint32_t connection : open) { colours.push_back(colour_of_connection(ConnectionId{connection})); }
    for (const Partition::Move& move : connections_.split(open, colours)) {
      const ConnectionId connection{move.thing};
      add_to_links(connection, move.from, static_cast<Colour>(-1));
      add_to_links(connection, connections_.of(move.thing), 1);
      for (const LaneIndex lane :
           {whole_.connections[connection].source_lane, whole_.connections[connection].target_lane}) {
        if (lane != kOutside) { open_lanes_.add(lane.value); }
      }
    }
  }

  void split_links() {
    const std::vector<std::uint32_t> open = open_links_.take();
    std::vector<Colour> colours;
    for (const std::uint32_t link : open) { colours.push_back(sums_[link]); }
    for (const Partition::Move& move : links_.split(open, colours)) {
      for (std::size_t k = first_user_[move.thing]; k < first_user_[move.thing + 1]; ++k) {
        open_connections_.add(users_[k].value);
      }
    }
  }

  void split_lanes() {
    const std::vector<std::uint32_t> open = open_lanes_.take();
    std::vector<Colour> colours;
    for (const std::uint32_t lane : open) { colours.push_back(colour_of_lane(LaneIndex{lane})); }
    for (const Partition::Move& move : lanes_.split(open, colours)) {
      const MappedSchedule::Lane& lane = whole_.lanes[LaneIndex{move.thing}];
      for (std::uint32_t port = 0; port < lane.in_ports; ++port) {
        open_connections_.add(whole_.in_connections[lane.first_in + port].value);
      }
      for (std::uint32_t port = 0; port < lane.out_ports; ++port) {
        open_connections_.add(lane.first_out.value + port);
      }
      open_waiting(move.thing);
      if (whole_.in_calls) { move_in_agent(LaneIndex{move.thing}, move.from); }
    }
  }

  void add_to_agent(LaneIndex lane, std::uint32_t number, Colour times) {
    sums_of_agents_[agent_of_[lane.value]] += times * mix(2, number);
  }

  /// Its agent is another one now, and so are all its lanes.
  void move_in_agent(LaneIndex lane, std::uint32_t from) {
    add_to_agent(lane, from, static_cast<Colour>(-1));
    add_to_agent(lane, lanes_.of(lane.value), 1);
    const std::uint32_t agent = agent_of_[lane.value];
    for (std::uint32_t i = first_lane_[agent]; i < first_lane_[agent + 1]; ++i) { open_lanes_.add(i); }
  }

  /// Lanes that wait for this one.
  void open_waiting(std::uint32_t lane) {
    if (members_ != nullptr) {
      for (const LaneIndex waiting : waiting_[lane]) { open_lanes_.add(waiting.value); }
      return;
    }
    for (const std::int64_t distance : every_distance_) {
      const std::int64_t waiting = std::int64_t{lane} - distance;
      if (waiting < 0 || waiting >= static_cast<std::int64_t>(waits_.size())) { continue; }
      if (waits_[static_cast<std::size_t>(waiting)]->contains(distance)) {
        open_lanes_.add(static_cast<std::size_t>(waiting));
      }
    }
  }

  Colour colour_of_connection(ConnectionId i) const {
    const MappedSchedule::Connection& connection = whole_.connections[i];
    Colour colour = mix(colour_of_source(i, connection), colour_of_target(connection));
    colour = mix(colour, connection.cost);
    each_pair(i, [&](const FlowGraph::Connection& pair, Colour) {
      colour = mix(colour, static_cast<Colour>(pair.latency.count()));
      for (const FlowGraph::Use& use : whole_.network.path_of(pair)) {
        if (is_slack(use)) { continue; }
        colour = mix(colour, links_.of(use.link.value) + ((times(i, use) - 1) << 32U));
      }
    });
    return colour;
  }

  /// Of the end that is outside: that of no class of lanes.
  static constexpr Colour kBeyond = UINT64_MAX;

  Colour colour_of_source(ConnectionId number, const MappedSchedule::Connection& connection) const {
    if (connection.source_lane == kOutside) { return kBeyond; }
    const MappedSchedule::Lane& source = whole_.lanes[connection.source_lane];
    return mix(lanes_.of(connection.source_lane.value),
               source.symmetric_outputs ? 0 : number.value - source.first_out.value);
  }

  Colour colour_of_target(const MappedSchedule::Connection& connection) const {
    if (connection.target_lane == kOutside) { return kBeyond; }
    const bool alike = whole_.lanes[connection.target_lane].symmetric_inputs;
    return mix(lanes_.of(connection.target_lane.value), alike ? 0 : connection.target_port);
  }

  Colour colour_of_lane(LaneIndex i) const {
    const MappedSchedule::Lane& lane = whole_.lanes[i];
    const auto in = [&](std::uint32_t port) { return whole_.in_connections[lane.first_in + port]; };
    const auto out = [&](std::uint32_t port) { return ConnectionId{lane.first_out.value + port}; };
    Colour colour = mix(colour_of_ports(i, lane.in_ports, lane.symmetric_inputs, in),
                        colour_of_ports(i, lane.out_ports, lane.symmetric_outputs, out));
    for (const std::int64_t distance : *waits_[i.value]) { colour = mix(colour, lanes_.of(awaited(i, distance))); }
    if (whole_.in_calls) { colour = mix(colour, sums_of_agents_[agent_of_[i.value]]); }
    return colour;
  }

  /// Of ports that are alike, whatever their order.
  template <class ConnectionOf>
  Colour colour_of_ports(LaneIndex lane, std::uint32_t ports, bool alike, const ConnectionOf& connection_of) const {
    Colour colour = 0;
    for (std::uint32_t port = 0; port < ports; ++port) {
      const ConnectionId connection = connection_of(port);
      const std::uint32_t number = connections_.of(connection.value);
      colour = alike ? colour + ports_of(lane, connection) * mix(1, number) : mix(colour, number);
    }
    return colour;
  }

  bool is_slack(const FlowGraph::Use& use) const { return whole_.network.graph.links[use.link].slack; }

  /// How many ports of one lane the port of this connection stands for.
  Colour ports_of(LaneIndex lane, ConnectionId connection) const {
    return members_ == nullptr ? 1 : members_->connections[connection.value] / members_->lanes[lane.value];
  }

  /// How many links of a class one connection crosses there.
  Colour times(ConnectionId connection, const FlowGraph::Use& use) const {
    if (members_ == nullptr) { return 1; }
    const std::uint64_t crossings = std::uint64_t{use.flows} * whole_.network.link_members[use.link];
    return crossings / members_->connections[connection.value];
  }

  /// The lane that one waits for.
  std::size_t awaited(LaneIndex lane, std::int64_t distance) const {
    if (members_ == nullptr) { return static_cast<std::size_t>(std::int64_t{lane.value} + distance); }
    const MappedSchedule::Lane& own = whole_.lanes[lane];
    return whole_.lane(own.agent, LaneId{static_cast<std::uint32_t>(std::int64_t{own.lane.value} + distance)}).value;
  }

  void list_waiting() {
    waiting_.resize(whole_.lanes.size());
    for (const LaneIndex lane : whole_.lanes.ids()) {
      for (const std::int64_t distance : *waits_[lane.value]) { waiting_[awaited(lane, distance)].push_back(lane); }
    }
  }

  /// What a connection of class `number` adds to the sums of its links, so many times.
  void add_to_links(ConnectionId connection, std::uint32_t number, Colour times) {
    each_pair(connection, [&](const FlowGraph::Connection& pair, Colour pair_number) {
      Colour place = pair_number << 32U;
      for (const FlowGraph::Use& use : whole_.network.path_of(pair)) {
        ++place;
        if (is_slack(use)) { continue; }
        sums_[use.link.value] += times * use.flows * mix(mix(1, number), place);
        open_links_.add(use.link.value);
      }
    });
  }

  template <class See>
  void each_pair(ConnectionId connection, const See& see) const {
    Colour number = 0;
    for (const FlowGraph::Connection& pair : whole_.network.pairs_of(connection)) { see(pair, number++); }
  }

  /// Lanes of one agent follow each other.
  void list_agents() {
    for (const LaneIndex lane : whole_.lanes.ids()) {
      const bool first = lane.value == 0 || whole_.lanes[lane].agent != whole_.lanes[LaneIndex{lane.value - 1}].agent;
      if (first) { first_lane_.push_back(lane.value); }
      agent_of_.push_back(static_cast<std::uint32_t>(first_lane_.size() - 1));
    }
    sums_of_agents_.resize(first_lane_.size());
    first_lane_.push_back(whole_.lanes.next().value);
  }

  /// The connections that cross each link, but slack ones.
  void list_users() {
    first_user_.assign(whole_.network.graph.links.size() + 1, 0);
    for (const auto& use : whole_.network.graph.uses) { first_user_[use.link.value + 1] += is_slack(use) ? 0 : 1; }
    for (std::size_t link = 1; link < first_user_.size(); ++link) { first_user_[link] += first_user_[link - 1]; }
    users_.resize(first_user_.back());
    std::vector<std::size_t> next(first_user_.begin(), first_user_.end() - 1);
    for (const ConnectionId connection : whole_.connections.ids()) {
      each_pair(connection, [&](const FlowGraph::Connection& pair, Colour) {
        for (const FlowGraph::Use& use : whole_.network.path_of(pair)) {
          if (!is_slack(use)) { users_[next[use.link.value]++] = connection; }
        }
      });
    }
  }

  const MappedSchedule& whole_;
  const MemberCounts* members_;
  std::vector<std::vector<LaneIndex>> waiting_;  ///< by lane, where it is a quotient
  WaitDistances distances_;
  std::set<std::int64_t> every_distance_;
  std::vector<const std::set<std::int64_t>*> waits_;
  Partition lanes_;
  Partition connections_;
  Partition links_;
  std::vector<Colour> sums_;               ///< by link: over the connections that cross it
  std::vector<std::uint32_t> agent_of_;    ///< by lane: the number of its agent, where calls follow each other
  std::vector<std::uint32_t> first_lane_;  ///< by this number; one more at the end
  std::vector<Colour> sums_of_agents_;     ///< likewise: over the lanes of each
  std::vector<std::size_t> first_user_;
  std::vector<ConnectionId> users_;  ///< link by link
  Worklist open_lanes_;
  Worklist open_connections_;
  Worklist open_links_;
};

}  // namespace

EqualClasses equal_classes(const MappedSchedule& whole, const Schedule& schedule, std::vector<Colour> apart) {
  return Refinement(whole, schedule, apart, nullptr).classes();
}

EqualClasses equal_classes(const MappedSchedule& quotient, const Schedule& schedule, const MemberCounts& members) {
  require(!quotient.in_calls, "a quotient for calls does not tell agents apart");
  return Refinement(quotient, schedule, std::vector<Colour>(quotient.connections.size()), &members).classes();
}

}  // namespace athanor
