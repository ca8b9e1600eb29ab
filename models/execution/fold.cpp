#include <algorithm>
#include <map>
#include <set>

#include "models/execution/plan.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// A colour stands for all that is known to tell a thing apart. 64 bits of a strong mix: that two of 10^7 differing
/// things share one is a matter of 10^-6, and `fold` checks the counts on which exactness rests.
using Colour = std::uint64_t;

Colour mix(Colour a, Colour b) {
  Colour x = a ^ (b + 0x9e3779b97f4a7c15U + (a << 12U) + (a >> 4U));
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Counts distinct colours, and numbers them in the order in which they are first seen.
class Palette {
 public:
  explicit Palette(std::size_t most) {
    std::size_t size = 16;
    while (size < 2 * most) { size *= 2; }
    slots_.resize(size);
  }

  std::uint32_t number(Colour colour) {
    std::size_t at = colour & (slots_.size() - 1);
    while (slots_[at].used && slots_[at].colour != colour) { at = (at + 1) & (slots_.size() - 1); }
    if (!slots_[at].used) { slots_[at] = {colour, count_++, true}; }
    return slots_[at].number;
  }
  std::uint32_t count() const { return count_; }

 private:
  struct Slot {
    Colour colour = 0;
    std::uint32_t number = 0;
    bool used = false;
  };
  std::vector<Slot> slots_;
  std::uint32_t count_ = 0;
};

std::uint32_t distinct(const std::vector<Colour>& colours) {
  Palette palette(colours.size());
  for (const Colour colour : colours) { palette.number(colour); }
  return palette.count();
}

/// At which distances from their own lane the primitives of each program wait for others of their agent.
using WaitDistances = std::map<ProgramId, std::set<std::int64_t>>;

WaitDistances wait_distances(const Plan& plan, const Schedule& schedule) {
  WaitDistances distances;
  for (const Plan::Lane& lane : plan.lanes) {
    const auto [entry, fresh] = distances.try_emplace(schedule.lane(lane.agent, lane.lane).program);
    const bool alone = plan.lane_of.size() == schedule.roster().agents;  // one lane an agent: nobody to wait for
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

/// Colour refinement (one-dimensional Weisfeiler-Leman) of lanes, connections and links, until nothing splits.
class Refinement {
 public:
  Refinement(const Plan& plan, const Schedule& schedule)
      : plan_(plan),
        distances_(wait_distances(plan, schedule)),
        connections_(plan.connections.size(), 0),
        links_(plan.links.size()),
        sums_(plan.links.size()) {
    for (const Plan::Lane& lane : plan.lanes) {
      const ProgramId program = schedule.lane(lane.agent, lane.lane).program;
      Colour colour = mix(program.value, lane.cost);
      colour = mix(mix(colour, lane.steps), lane.loops);
      lanes_.push_back(mix(mix(colour, lane.in_ports), lane.out_ports));
      waits_.push_back(&distances_.at(program));
    }
    for (std::size_t link = 0; link < links_.size(); ++link) {
      links_[link] = mix(1, static_cast<Colour>(plan.network.links[link].rate.count()));
    }
    refine();
  }

  const std::vector<Colour>& lanes() const { return lanes_; }
  const std::vector<Colour>& links() const { return links_; }

 private:
  /// Connections need no count of their own: their colours follow from those of lanes and links, and once neither of
  /// these has split in a round, the connections do not in the next.
  void refine() {
    std::uint64_t before = 0;
    for (std::uint64_t now = 1; now != before;) {
      before = now;
      colour_connections();
      colour_links();
      colour_lanes();
      now = std::uint64_t{distinct(lanes_)} + distinct(links_);
    }
  }

  void colour_connections() {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      const Plan::Connection& connection = plan_.connections[i];
      Colour colour = mix(lanes_[connection.source_lane], i - plan_.lanes[connection.source_lane].first_out);
      colour = mix(mix(colour, lanes_[connection.target_lane]), connection.target_port);
      colour = mix(colour, connection.cost);
      for (std::size_t pair = 0; pair < plan_.queue_pairs; ++pair) {
        const NetworkPlan::Connection& network = plan_.network.connections[i * plan_.queue_pairs + pair];
        colour = mix(colour, static_cast<Colour>(network.latency.count()));
        for (std::uint32_t use = 0; use < network.uses; ++use) {
          colour = mix(colour, links_[plan_.network.uses[network.first_use + use].link]);
        }
      }
      connections_[i] = mix(colour, connections_[i]);
    }
  }

  void colour_links() {
    std::fill(sums_.begin(), sums_.end(), 0);
    const NetworkPlan::Connection* network = plan_.network.connections.data();
    for (const Colour colour : connections_) {
      for (Colour pair = 0; pair < plan_.queue_pairs; ++pair, ++network) {
        for (std::uint32_t use = 0; use < network->uses; ++use) {
          sums_[plan_.network.uses[network->first_use + use].link] += mix(colour, pair << 32U | use);
        }
      }
    }
    for (std::size_t link = 0; link < links_.size(); ++link) { links_[link] = mix(links_[link], sums_[link]); }
  }

  void colour_lanes() {
    std::vector<Colour> next(lanes_.size());
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const Plan::Lane& lane = plan_.lanes[i];
      Colour colour = lanes_[i];
      for (std::uint32_t port = 0; port < lane.in_ports; ++port) {
        colour = mix(colour, connections_[plan_.in_connections[lane.first_in + port]]);
      }
      for (std::uint32_t port = 0; port < lane.out_ports; ++port) {
        colour = mix(colour, connections_[lane.first_out + port]);
      }
      for (const std::int64_t distance : *waits_[i]) {
        colour = mix(colour, lanes_[static_cast<std::size_t>(static_cast<std::int64_t>(i) + distance)]);
      }
      next[i] = colour;
    }
    lanes_.swap(next);
  }

  const Plan& plan_;
  WaitDistances distances_;
  std::vector<const std::set<std::int64_t>*> waits_;
  std::vector<Colour> lanes_;
  std::vector<Colour> connections_;
  std::vector<Colour> links_;
  std::vector<Colour> sums_;
};

/// The classes of one kind of thing: for each thing its class, for each class a member and their number.
struct Classes {
  std::vector<std::uint32_t> of;
  std::vector<std::uint32_t> member;
  std::vector<std::uint32_t> members;

  explicit Classes(const std::vector<Colour>& colours) {
    Palette palette(colours.size());
    for (std::uint32_t i = 0; i < colours.size(); ++i) {
      of.push_back(palette.number(colours[i]));
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
  Folding(const Plan& whole, const Refinement& refinement)
      : whole_(whole), lanes_(refinement.lanes()), links_(refinement.links()) {}

  Plan fold() {
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

Plan fold(const Plan& whole, const Schedule& schedule) { return Folding(whole, Refinement(whole, schedule)).fold(); }

}  // namespace athanor
