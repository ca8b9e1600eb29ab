#include "algorithms/synthesis/exchange_routes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "algorithms/synthesis/gather_bound.hpp"
#include "algorithms/synthesis/table_builder.hpp"
#include "algorithms/synthesis/transfer_order.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t kUnreached = std::numeric_limits<std::int64_t>::max();

/// Shortest ways between vertices by whole lengths, ties by the order of links.
class ShortestWays {
 public:
  explicit ShortestWays(const CapacityGraph& graph) : graph_(graph), out_(graph.vertices) {
    for (std::uint32_t i = 0; i < graph.links.size(); ++i) { out_[graph.links[i].from].push_back(i); }
  }

  /// Until `to` is reached; of all vertices where `to` is none.
  void find(const Lengths& lengths, std::uint32_t from, std::uint32_t to) {
    distance_.assign(graph_.vertices, kUnreached);
    last_.assign(graph_.vertices, 0);
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
    distance_[from] = 0;
    open.emplace(0, from);
    while (!open.empty()) {
      const auto [distance, vertex] = open.top();
      open.pop();
      if (vertex == to) { return; }
      if (distance > distance_[vertex]) { continue; }
      for (const std::uint32_t link : out_[vertex]) {
        const std::uint32_t next = graph_.links[link].to;
        if (distance + lengths[link] >= distance_[next]) { continue; }
        distance_[next] = distance + lengths[link];
        last_[next] = link;
        open.emplace(distance_[next], next);
      }
    }
  }

  std::int64_t distance(std::uint32_t vertex) const { return distance_[vertex]; }
  std::vector<std::uint32_t> way(std::uint32_t from, std::uint32_t to) const {
    std::vector<std::uint32_t> links;
    for (; to != from; to = graph_.links[last_[to]].from) { links.push_back(last_[to]); }
    std::reverse(links.begin(), links.end());
    return links;
  }

 private:
  using Reached = std::pair<std::int64_t, std::uint32_t>;

  const CapacityGraph& graph_;
  std::vector<std::vector<std::uint32_t>> out_;
  std::vector<std::int64_t> distance_;
  std::vector<std::uint32_t> last_;
};

class Router {
 public:
  explicit Router(const CapacityGraph& graph)
      : graph_(graph),
        ways_(graph),
        loads_(graph.links.size()),
        lengths_(graph.links.size()),
        routes_(std::size_t{graph.ranks} * graph.ranks) {}

  ExchangeRoutes run() && {
    ExchangeRoutes best{graph_.ranks, {}, {0, 1}, cut_bound()};
    for (const double steepness : steps()) {
      steepness_ = steepness;
      best.bound = std::max(best.bound, length_bound());
      for (std::uint32_t shift = 1; shift < graph_.ranks; ++shift) { route_all(shift); }
      best.bound = std::max(best.bound, length_bound());
      const Ratio load = greatest_load_of_links();
      if (best.hops.empty() || load < best.load) {
        best.load = load;
        best.hops = hops();
      }
      if (best.load <= best.bound) { break; }
    }
    return best;
  }

 private:
  static constexpr double kUnitLength = 1 << 20;
  static constexpr std::uint32_t kManyRanks = 64;

  /// Of the lengths in each round: the fullest link is as many powers of e as long as it would be empty. Time grows
  /// with the cube of ranks.
  std::vector<double> steps() const {
    if (graph_.ranks > 4 * kManyRanks) { return {0.1}; }
    if (graph_.ranks > kManyRanks) { return {0.1, 2, 6}; }
    return {0.1, 0.5, 1, 2, 3, 4, 5, 6, 8, 10};
  }

  /// Rank by rank to the one `shift` places behind it: loads stay even all the time.
  void route_all(std::uint32_t shift) {
    set_lengths();
    for (std::uint32_t from = 0; from < graph_.ranks; ++from) { route(from, (from + shift) % graph_.ranks); }
  }

  void route(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t>& links = routes_[std::size_t{from} * graph_.ranks + to];
    for (const std::uint32_t link : links) { change(link, -1); }
    ways_.find(lengths_, from, to);
    links = ways_.way(from, to);
    for (const std::uint32_t link : links) { change(link, 1); }
  }

  void change(std::uint32_t link, std::int64_t units) {
    loads_[link] += units;
    set_length(link);
  }

  double time_of(std::uint32_t link) const {
    return static_cast<double>(loads_[link]) / static_cast<double>(graph_.links[link].capacity);
  }

  void set_lengths() {
    narrowest_ = kUnreached;
    longest_time_ = 0;
    for (std::uint32_t i = 0; i < graph_.links.size(); ++i) {
      narrowest_ = std::min(narrowest_, graph_.links[i].capacity);
      longest_time_ = std::max(longest_time_, time_of(i));
    }
    for (std::uint32_t i = 0; i < graph_.links.size(); ++i) { set_length(i); }
  }

  void set_length(std::uint32_t link) {
    const double inverse = static_cast<double>(narrowest_) / static_cast<double>(graph_.links[link].capacity);
    const double fullness = longest_time_ > 0 ? std::min(1.5, time_of(link) / longest_time_) : 0;
    lengths_[link] = 1 + static_cast<std::int64_t>(kUnitLength * inverse * std::exp(steepness_ * (fullness - 1)));
  }

  Ratio greatest_load_of_links() const {
    Ratio greatest{0, 1};
    for (std::uint32_t i = 0; i < graph_.links.size(); ++i) {
      greatest = std::max(greatest, Ratio{loads_[i], graph_.links[i].capacity});
    }
    return greatest;
  }

  Ratio length_bound() {
    set_lengths();
    Wide carried = 0;
    for (std::uint32_t i = 0; i < graph_.links.size(); ++i) { carried += Wide{lengths_[i]} * graph_.links[i].capacity; }
    Wide way = 0;
    for (std::uint32_t from = 0; from < graph_.ranks; ++from) {
      ways_.find(lengths_, from, graph_.vertices);
      for (std::uint32_t to = 0; to < graph_.ranks; ++to) { way += ways_.distance(to); }
    }
    for (; carried > (Wide{1} << 60) || way > (Wide{1} << 60); carried = carried / 2 + 1) { way /= 2; }
    return {static_cast<std::int64_t>(way), static_cast<std::int64_t>(carried)};
  }

  /// Of the narrowest cut of an all-gather, and of each rank alone.
  Ratio cut_bound() const {
    const std::int64_t ranks = graph_.ranks;
    const GatherBound gather = gather_bound(graph_);
    Ratio bound{std::int64_t{gather.inside} * (ranks - gather.inside), gather.capacity};
    std::vector<std::int64_t> in(graph_.vertices);
    std::vector<std::int64_t> out(graph_.vertices);
    for (const CapacityLink& link : graph_.links) {
      in[link.to] += link.capacity;
      out[link.from] += link.capacity;
    }
    for (std::uint32_t rank = 0; rank < graph_.ranks; ++rank) {
      bound = std::max(bound, Ratio{ranks - 1, std::min(in[rank], out[rank])});
    }
    return bound;
  }

  std::vector<std::vector<std::uint32_t>> hops() const {
    std::vector<std::vector<std::uint32_t>> hops(routes_.size());
    for (std::size_t pair = 0; pair < routes_.size(); ++pair) {
      if (routes_[pair].empty()) { continue; }
      hops[pair].push_back(graph_.links[routes_[pair].front()].from);
      for (const std::uint32_t link : routes_[pair]) {
        if (graph_.links[link].to < graph_.ranks) { hops[pair].push_back(graph_.links[link].to); }
      }
    }
    return hops;
  }

  const CapacityGraph& graph_;
  ShortestWays ways_;
  std::vector<std::int64_t> loads_;  ///< by link
  Lengths lengths_;
  std::vector<std::vector<std::uint32_t>> routes_;  ///< by pair, links
  std::int64_t narrowest_ = 1;
  double longest_time_ = 0;
  double steepness_ = 0;
};

/// A message of an all-to-all.
struct Hop {
  std::uint32_t pair = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t stage = 0;  ///< hops before it; each has connections of its own
  bool last = false;
};

std::vector<Hop> hops_in_order(const ExchangeRoutes& routes) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> links;
  std::vector<Transfer> transfers;
  std::vector<Hop> hops;
  for (std::uint32_t shift = 1; shift < routes.ranks; ++shift) {
    for (std::uint32_t from = 0; from < routes.ranks; ++from) {
      const std::uint32_t pair = from * routes.ranks + (from + shift) % routes.ranks;
      const std::vector<std::uint32_t>& way = routes.hops[pair];
      for (std::size_t i = 0; i + 1 < way.size(); ++i) {
        const auto next = static_cast<std::uint32_t>(links.size());
        const std::uint32_t link = links.emplace(std::pair(way[i], way[i + 1]), next).first->second;
        const auto number = static_cast<std::uint32_t>(transfers.size());
        transfers.push_back({link, 1, i == 0 ? Transfer::kNone : number - 1});
        hops.push_back({pair, way[i], way[i + 1], static_cast<std::uint32_t>(i), i + 2 == way.size()});
      }
    }
  }
  std::vector<Hop> ordered;
  for (const std::uint32_t i : in_order_of_start(transfers)) { ordered.push_back(hops[i]); }
  std::stable_sort(ordered.begin(), ordered.end(), [](const Hop& a, const Hop& b) { return a.stage < b.stage; });
  return ordered;
}

}  // namespace

ExchangeRoutes exchange_routes(const CapacityGraph& graph) {
  require(graph.ranks >= 2, "an all-to-all of {} ranks", graph.ranks);
  return Router(graph).run();
}

Table exchange_table(const ExchangeRoutes& routes) {
  TableBuilder builder({CollectiveKind::all_to_all, routes.ranks, Elements{routes.ranks}});
  for (std::uint32_t rank = 0; rank < routes.ranks; ++rank) {
    builder.copy(rank, 1, {rank, Buffer::input}, {rank, Buffer::output});
  }
  std::vector<std::optional<TableBuilder::Step>> arrived(routes.hops.size());
  std::vector<TableCells> places(routes.hops.size());
  for (const Hop& hop : hops_in_order(routes)) {
    const std::uint32_t sender = hop.pair / routes.ranks;
    if (hop.stage == 0) { places[hop.pair] = {hop.pair % routes.ranks, Buffer::input}; }
    const TableBuilder::Message message{hop.from, hop.to, hop.stage, 1};
    builder.send(message, places[hop.pair], arrived[hop.pair]);
    places[hop.pair] = hop.last ? TableCells{sender, Buffer::output} : builder.scratch(hop.to, 1);
    arrived[hop.pair] = builder.receive(message, places[hop.pair]);
  }
  return std::move(builder).build();
}

}  // namespace athanor
