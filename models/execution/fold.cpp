#include <map>

#include "models/execution/partition.hpp"
#include "models/execution/plan.hpp"
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
    Palette palette(numbers.size());
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      of.push_back(palette.number(mix(1, numbers[i])));
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
  Folding(const Plan& whole, const EqualClasses& classes)
      : whole_(whole), lanes_(classes.lanes), links_(classes.links) {}

  Plan fold() {
    folded_.starts = whole_.starts;
    folded_.agent_costs = whole_.agent_costs;
    folded_.connection_costs = whole_.connection_costs;
    folded_.first_lane = whole_.first_lane;
    folded_.queue_pairs = whole_.queue_pairs;
    for (const std::uint32_t lane : whole_.lane_of) { folded_.lane_of.push_back(lanes_.of[lane]); }
    for (std::size_t i = 0; i < links_.member.size(); ++i) {
      folded_.links.push_back(whole_.links[links_.member[i]]);
      folded_.link_members.push_back(links_.members[i]);
      folded_.network.links.push_back(whole_.network.links[links_.member[i]]);
    }
    add_lanes();
    for (std::uint32_t lane = 0; lane < folded_.lanes.size(); ++lane) { add_connections(lane); }
    return std::move(folded_);
  }

 private:
  void add_lanes() {
    std::uint32_t ins = 0;
    std::uint32_t outs = 0;
    for (const std::uint32_t member : lanes_.member) {
      Plan::Lane lane = whole_.lanes[member];
      lane.first_in = ins;
      lane.first_out = outs;
      ins += lane.in_ports;
      outs += lane.out_ports;
      folded_.lanes.push_back(lane);
    }
    folded_.in_connections.assign(ins, 0);
  }

  void add_connections(std::uint32_t lane) {
    const Plan::Lane& member = whole_.lanes[lanes_.member[lane]];
    for (std::uint32_t port = 0; port < member.out_ports; ++port) {
      const std::uint32_t old = member.first_out + port;
      Plan::Connection connection = whole_.connections[old];
      connection.source_lane = lane;
      connection.target_lane = lanes_.of[connection.target_lane];
      const Plan::Lane& target = folded_.lanes[connection.target_lane];
      folded_.in_connections[target.first_in + connection.target_port] =
          static_cast<std::uint32_t>(folded_.connections.size());
      folded_.connections.push_back(connection);
      for (std::size_t pair = 0; pair < whole_.queue_pairs; ++pair) {
        add_uses(whole_.network.connections[std::size_t{old} * whole_.queue_pairs + pair], lanes_.members[lane]);
      }
    }
  }

  void add_uses(NetworkPlan::Connection connection, std::uint32_t members) {
    std::map<std::uint32_t, std::uint32_t> crossed;  // link class: how many links of it on the path
    for (std::uint32_t use = 0; use < connection.uses; ++use) {
      ++crossed[links_.of[whole_.network.uses[connection.first_use + use].link]];
    }
    connection.first_use = static_cast<std::uint32_t>(folded_.network.uses.size());
    connection.uses = static_cast<std::uint32_t>(crossed.size());
    for (const auto& [link, times] : crossed) {
      const std::uint64_t crossings = std::uint64_t{members} * times;
      require(crossings % links_.members[link] == 0, "{} crossings of {} equal links are not spread evenly", crossings,
              links_.members[link]);
      folded_.network.uses.push_back({link, static_cast<std::uint32_t>(crossings / links_.members[link])});
    }
    folded_.network.connections.push_back(connection);
  }

  const Plan& whole_;
  Classes lanes_;
  Classes links_;
  Plan folded_;
};

}  // namespace

Plan fold(const Plan& whole, const Schedule& schedule) { return Folding(whole, equal_classes(whole, schedule)).fold(); }

}  // namespace athanor
