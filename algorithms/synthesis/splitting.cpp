#include "algorithms/synthesis/splitting.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "algorithms/synthesis/gather_bound.hpp"
#include "algorithms/synthesis/max_flow.hpp"

namespace athanor {

namespace {

using Ends = std::pair<std::uint32_t, std::uint32_t>;
using Capacities = std::map<Ends, std::int64_t>;

CapacityGraph graph_of(const CapacityGraph& like, const Capacities& capacities) {
  CapacityGraph graph{like.ranks, like.vertices, {}};
  for (const auto& [ends, capacity] : capacities) {
    if (capacity > 0) { graph.links.push_back({ends.first, ends.second, capacity}); }
  }
  return graph;
}

/// What enters or leaves a switch over one of its links.
struct SwitchPort {
  std::uint32_t vertex = 0;
  std::int64_t left = 0;
  std::int64_t budget = MaxFlow::kUnlimited;  ///< of these, what may be paired now
};

struct SwitchPorts {
  std::vector<SwitchPort> in;
  std::vector<SwitchPort> out;
};

SwitchPorts ports_of(const Capacities& capacities, std::uint32_t vertex) {
  SwitchPorts ports;
  for (const auto& [ends, capacity] : capacities) {
    if (capacity == 0) { continue; }
    if (ends.second == vertex) { ports.in.push_back({.vertex = ends.first, .left = capacity}); }
    if (ends.first == vertex) { ports.out.push_back({.vertex = ends.second, .left = capacity}); }
  }
  return ports;
}

void split(Capacities& capacities, std::uint32_t from, std::uint32_t through, std::uint32_t to, std::int64_t amount) {
  capacities[{from, through}] -= amount;
  capacities[{through, to}] -= amount;
  if (from != to) { capacities[{from, to}] += amount; }
}

/// Who is joined before whom at a switch: near are the ranks that are on it.
enum class Preference : std::uint8_t { near_first, halves, far_first };

/// Pairs the ports of one switch: each way in with the ways out in turn, beginning behind its own place, and in each
/// round with no more than an even share.
class EvenPairs {
 public:
  EvenPairs(Capacities& capacities, std::uint32_t vertex, const std::set<std::uint32_t>& near)
      : capacities_(capacities), vertex_(vertex), near_(near), ports_(ports_of(capacities, vertex)) {}

  void split_all(Preference preference) {
    const auto near = [&](std::uint32_t from, std::uint32_t to) {
      return near_.contains(from) && near_.contains(to) && is_new(from, to);
    };
    const auto mixed = [&](std::uint32_t from, std::uint32_t to) {
      return near_.contains(from) != near_.contains(to) && is_new(from, to);
    };
    if (preference == Preference::halves) { halve_budgets(); }
    if (preference != Preference::far_first) { pass(near); }
    share_out(ports_.in, ports_.out);
    share_out(ports_.out, ports_.in);
    pass(mixed);
    for_all_ports([](SwitchPort& port) { port.budget = MaxFlow::kUnlimited; });
    pass(mixed);
    pass(near);
    pass([](std::uint32_t, std::uint32_t) { return true; });
    weave_in_rest();
  }

 private:
  /// Of those whom one speaks with over a switch; with more, trees would have more links and not be wider.
  static constexpr std::size_t kMostWays = 16;

  /// Not joined by another switch before: what is close together otherwise would waste what leads far.
  bool is_new(std::uint32_t from, std::uint32_t to) const {
    const auto found = capacities_.find({from, to});
    return found == capacities_.end() || found->second == 0 || made_here_.contains({from, to});
  }

  template <class Change>
  void for_all_ports(const Change& change) {
    for (auto* ports : {&ports_.in, &ports_.out}) { std::for_each(ports->begin(), ports->end(), change); }
  }

  void halve_budgets() {
    for_all_ports([](SwitchPort& port) { port.budget = port.left / 2; });
  }

  /// What goes far, or comes from there, is divided among those near.
  void share_out(std::vector<SwitchPort>& these, const std::vector<SwitchPort>& others) {
    std::int64_t far = 0;
    std::int64_t near = 0;
    for (const SwitchPort& port : others) { far += near_.contains(port.vertex) ? 0 : port.left; }
    for (const SwitchPort& port : these) { near += near_.contains(port.vertex) ? 1 : 0; }
    for (SwitchPort& port : these) {
      port.budget = near_.contains(port.vertex) ? (far + near - 1) / near : MaxFlow::kUnlimited;
    }
  }

  template <class Allowed>
  void pass(const Allowed& allowed) {
    const std::size_t others = ports_.out.size() - std::min<std::size_t>(1, ports_.out.size());
    const auto ways = static_cast<std::int64_t>(std::clamp<std::size_t>(others, 1, ways_at_most()));
    for (bool any = true; any;) {
      any = false;
      std::int64_t most = 0;
      for (const SwitchPort& in : ports_.in) { most = std::max(most, in.left); }
      const std::int64_t share = std::max<std::int64_t>(1, (most + ways - 1) / ways);
      for (std::size_t shift = 1; shift <= ports_.out.size(); ++shift) { any = round(shift, share, allowed) || any; }
    }
  }

  std::size_t ways_at_most() const { return ports_.in.size() > kCarefulRanks ? kMostWays : kCarefulRanks; }

  template <class Allowed>
  bool round(std::size_t shift, std::int64_t share, const Allowed& allowed) {
    bool any = false;
    for (SwitchPort& in : ports_.in) {
      if (in.left == 0) { continue; }
      const auto own = std::lower_bound(ports_.out.begin(), ports_.out.end(), in.vertex,
                                        [](const SwitchPort& port, std::uint32_t id) { return port.vertex < id; });
      const auto place = static_cast<std::size_t>(own - ports_.out.begin());
      SwitchPort& out = ports_.out[(place + shift) % ports_.out.size()];
      const std::int64_t amount = std::min({in.left, out.left, share, in.budget, out.budget});
      if (amount == 0 || in.vertex == out.vertex || !allowed(in.vertex, out.vertex)) { continue; }
      split(capacities_, in.vertex, vertex_, out.vertex, amount);
      pairs_.push_back({in.vertex, out.vertex, amount});
      made_here_.emplace(in.vertex, out.vertex);
      for (SwitchPort* port : {&in, &out}) {
        port->left -= amount;
        port->budget -= amount;
      }
      any = true;
    }
    return any;
  }

  /// What is left comes from one vertex and could only go back to it: it takes places between two others instead.
  void weave_in_rest() {
    for (const SwitchPort& in : ports_.in) {
      std::int64_t left = std::min(in.left, capacities_[{vertex_, in.vertex}]);
      for (std::size_t i = 0; i < pairs_.size() && left > 0; ++i) {
        const CapacityLink pair = pairs_[i];
        if (pair.from == in.vertex || pair.to == in.vertex) { continue; }
        const std::int64_t amount = std::min(left, pair.capacity);
        capacities_[{pair.from, pair.to}] -= amount;
        capacities_[{pair.from, in.vertex}] += amount;
        capacities_[{in.vertex, pair.to}] += amount;
        left -= amount;
      }
    }
  }

  Capacities& capacities_;
  std::uint32_t vertex_;
  const std::set<std::uint32_t>& near_;
  SwitchPorts ports_;
  std::vector<CapacityLink> pairs_;  ///< as they were made
  std::set<Ends> made_here_;
};

/// How much of a pair of links may be split off: the least that cuts which lose by it have beyond what trees need.
/// These have both ends of the new link on one side, and the switch on the other.
class SplitLimit {
 public:
  SplitLimit(const CapacityGraph& graph, std::int64_t trees)
      : graph_(graph), trees_(trees), source_(graph.vertices), sink_(graph.vertices + 1), flow_(graph.vertices + 2) {
    for (const CapacityLink& link : graph.links) { flow_.add(link.from, link.to, link.capacity); }
    for (std::uint32_t rank = 0; rank < graph.ranks; ++rank) { flow_.add(source_, rank, trees); }
    for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) {
      to_sink_.push_back(flow_.add(vertex, sink_, 0));
    }
    for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) {
      from_source_.push_back(flow_.add(source_, vertex, 0));
    }
  }

  std::int64_t most(std::uint32_t from, std::uint32_t through, std::uint32_t to, std::int64_t wanted) {
    std::int64_t amount = wanted;
    for (std::uint32_t rank = 0; rank < graph_.ranks && amount > 0; ++rank) {
      amount = std::min(amount, spare({from, to}, {through, rank}, amount));
      amount = std::min(amount, spare({through}, {from, to, rank}, amount));
    }
    return amount;
  }

 private:
  std::int64_t spare(std::vector<std::uint32_t> near, std::vector<std::uint32_t> far, std::int64_t enough) {
    for (const std::uint32_t vertex : near) {
      if (std::count(far.begin(), far.end(), vertex) > 0) { return enough; }  // no cut parts them
    }
    for (const std::uint32_t vertex : near) { flow_.set_capacity(from_source_[vertex], MaxFlow::kUnlimited); }
    for (const std::uint32_t vertex : far) { flow_.set_capacity(to_sink_[vertex], MaxFlow::kUnlimited); }
    const std::int64_t needed = trees_ * graph_.ranks;
    const std::int64_t carried = flow_.flow(source_, sink_, needed + enough);
    for (const std::uint32_t vertex : near) { flow_.set_capacity(from_source_[vertex], 0); }
    for (const std::uint32_t vertex : far) { flow_.set_capacity(to_sink_[vertex], 0); }
    return std::max<std::int64_t>(0, carried - needed);
  }

  const CapacityGraph& graph_;
  std::int64_t trees_;
  std::uint32_t source_;
  std::uint32_t sink_;
  MaxFlow flow_;
  std::vector<std::uint32_t> to_sink_;
  std::vector<std::uint32_t> from_source_;
};

/// One pair after the other, of each as much as can be.
void split_carefully(const CapacityGraph& like, std::int64_t trees, std::uint32_t vertex, Capacities& capacities) {
  const SwitchPorts ports = ports_of(capacities, vertex);
  for (const SwitchPort& in : ports.in) {
    for (const SwitchPort& out : ports.out) {
      const std::int64_t wanted = std::min(capacities[{in.vertex, vertex}], capacities[{vertex, out.vertex}]);
      if (wanted == 0) { continue; }
      const CapacityGraph now = graph_of(like, capacities);
      const std::int64_t amount = SplitLimit(now, trees).most(in.vertex, vertex, out.vertex, wanted);
      split(capacities, in.vertex, vertex, out.vertex, amount);
    }
  }
}

/// What is left of a switch's links is not needed, or the trees do not fit any more.
void drop(Capacities& capacities, std::uint32_t vertex) {
  std::erase_if(capacities, [&](const auto& each) {
    return each.second == 0 || each.first.first == vertex || each.first.second == vertex;
  });
}

/// Switches, those farthest from any rank first: then the others are joined directly. Of equally far ones those with
/// the widest links: whom they join need not be joined again.
std::vector<std::uint32_t> switches_in_order(const CapacityGraph& graph) {
  std::vector<std::uint32_t> distance(graph.vertices, graph.vertices);
  for (std::uint32_t rank = 0; rank < graph.ranks; ++rank) { distance[rank] = 0; }
  for (bool changed = true; changed;) {
    changed = false;
    for (const CapacityLink& link : graph.links) {
      if (distance[link.from] + 1 >= distance[link.to]) { continue; }
      distance[link.to] = distance[link.from] + 1;
      changed = true;
    }
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t vertex = graph.ranks; vertex < graph.vertices; ++vertex) { order.push_back(vertex); }
  std::vector<std::int64_t> widest(graph.vertices);
  for (const CapacityLink& link : graph.links) { widest[link.to] = std::max(widest[link.to], link.capacity); }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(distance[a], widest[a]) > std::pair(distance[b], widest[b]);
  });
  return order;
}

/// The ranks on each switch.
std::vector<std::set<std::uint32_t>> ranks_on(const CapacityGraph& graph) {
  std::vector<std::set<std::uint32_t>> near(graph.vertices);
  for (const CapacityLink& link : graph.links) {
    if (link.from < graph.ranks) { near[link.to].insert(link.from); }
    if (link.to < graph.ranks) { near[link.from].insert(link.to); }
  }
  return near;
}

/// Takes the switches out one after the other.
class SwitchRemoval {
 public:
  SwitchRemoval(const CapacityGraph& graph, std::int64_t trees)
      : graph_(graph), trees_(trees), order_(switches_in_order(graph)), near_(ranks_on(graph)) {
    for (const CapacityLink& link : graph.links) { all_[{link.from, link.to}] += link.capacity; }
  }

  std::optional<CapacityGraph> run() const {
    for (const Preference preference : {Preference::near_first, Preference::halves, Preference::far_first}) {
      Capacities capacities = all_;
      for (const std::uint32_t vertex : order_) { split_evenly(vertex, preference, capacities); }
      if (holds(capacities)) { return result(capacities); }
    }
    return graph_.ranks <= kCarefulRanks ? one_by_one() : std::nullopt;
  }

 private:
  bool holds(const Capacities& capacities) const { return holds_trees(graph_of(graph_, capacities), trees_); }

  CapacityGraph result(const Capacities& capacities) const {
    CapacityGraph graph = graph_of(graph_, capacities);
    graph.vertices = graph.ranks;
    return graph;
  }

  void split_evenly(std::uint32_t vertex, Preference preference, Capacities& capacities) const {
    EvenPairs(capacities, vertex, near_[vertex]).split_all(preference);
    drop(capacities, vertex);
  }

  std::optional<CapacityGraph> one_by_one() const {
    Capacities capacities = all_;
    for (const std::uint32_t vertex : order_) {
      if (!try_evenly(vertex, capacities)) {
        split_carefully(graph_, trees_, vertex, capacities);
        drop(capacities, vertex);
      }
    }
    return holds(capacities) ? std::optional(result(capacities)) : std::nullopt;
  }

  bool try_evenly(std::uint32_t vertex, Capacities& capacities) const {
    for (const Preference preference : {Preference::near_first, Preference::halves, Preference::far_first}) {
      Capacities evenly = capacities;
      split_evenly(vertex, preference, evenly);
      if (!holds(evenly)) { continue; }
      capacities = std::move(evenly);
      return true;
    }
    return false;
  }

  const CapacityGraph& graph_;
  std::int64_t trees_;
  std::vector<std::uint32_t> order_;
  std::vector<std::set<std::uint32_t>> near_;
  Capacities all_;
};

}  // namespace

std::optional<CapacityGraph> without_switches(const CapacityGraph& graph, std::int64_t trees) {
  return SwitchRemoval(graph, trees).run();
}

}  // namespace athanor
