#include <algorithm>
#include <map>
#include <set>

#include "models/execution/mapped_schedule.hpp"
#include "models/execution/partition.hpp"
#include "models/execution/refinement.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// The classes of one kind of thing: for each thing its class, for each class a member and their number.
struct Classes {
  std::vector<std::uint32_t> of;
  std::vector<std::uint32_t> member;
  std::vector<std::uint32_t> members;

  explicit Classes(const std::vector<std::uint32_t>& numbers) {
    ClassNumbering numbering(numbers.size());
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      of.push_back(numbering.number(mix(1, numbers[i])));
      if (of.back() == member.size()) {
        member.push_back(i);
        members.push_back(0);
      }
      ++members[of.back()];
    }
  }
};

class Folding {
 public:
  Folding(const MappedSchedule& whole, const EqualClasses& classes)
      : whole_(whole), lanes_(classes.lanes), connections_(classes.connections), links_(classes.links) {}

  MappedSchedule fold() {
    folded_.starts = whole_.starts;
    folded_.agent_costs = whole_.agent_costs;
    folded_.connection_costs = whole_.connection_costs;
    folded_.first_lane = whole_.first_lane;
    folded_.network.queue_pairs = whole_.network.queue_pairs;
    for (const LaneIndex lane : whole_.lane_of) { folded_.lane_of.push_back(LaneIndex{lanes_.of[lane.value]}); }
    folded_.network.all_links = whole_.network.links;
    for (const std::uint32_t each : links_.of) { folded_.network.class_of_link.push_back(LinkIndex{each}); }
    for (std::size_t i = 0; i < links_.member.size(); ++i) {
      folded_.network.links.push_back(whole_.network.links[LinkIndex{links_.member[i]}]);
      folded_.network.link_members.push_back(links_.members[i]);
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
    for (const FlowGraph::Connection& pair : whole_.network.pairs_of(old)) {
      add_pair(pair, connections_.members[class_of(old)]);
    }
  }

  std::uint32_t port_of(const MappedSchedule::Lane& target, std::uint32_t connection_class) const {
    const auto first = in_classes_.begin() + target.first_in;
    const auto found = std::find(first, first + target.in_ports, connection_class);
    require(found != first + target.in_ports, "no in-port of class {} in the class of its lane", connection_class);
    return static_cast<std::uint32_t>(found - first);
  }

  void add_pair(FlowGraph::Connection pair, std::uint32_t members) {
    std::map<std::uint32_t, std::uint32_t> crossed;  // link class: how many links of it on the path
    for (const FlowGraph::Use& use : whole_.network.path_of(pair)) { ++crossed[links_.of[use.link.value]]; }
    pair.first_use = static_cast<std::uint32_t>(folded_.network.graph.uses.size());
    pair.uses = static_cast<std::uint32_t>(crossed.size());
    for (const auto& [link, times] : crossed) {
      const std::uint64_t crossings = std::uint64_t{members} * times;
      require(crossings % links_.members[link] == 0, "{} crossings of {} equal links are not spread evenly", crossings,
              links_.members[link]);
      folded_.network.graph.uses.push_back(
          {LinkIndex{link}, static_cast<std::uint32_t>(crossings / links_.members[link])});
    }
    folded_.network.graph.connections.push_back(pair);
  }

  const MappedSchedule& whole_;
  Classes lanes_;
  Classes connections_;
  Classes links_;
  std::vector<std::uint32_t> in_classes_;             ///< by in-port of the quotient: the class of its connection
  IdVector<ConnectionId, ConnectionId> out_members_;  ///< by connection of the quotient: one of the whole
  MappedSchedule folded_;
};

}  // namespace

MappedSchedule fold(const MappedSchedule& whole, const Schedule& schedule) {
  return Folding(whole, equal_classes(whole, schedule)).fold();
}

}  // namespace athanor
