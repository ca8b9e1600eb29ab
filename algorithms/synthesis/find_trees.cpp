#include <algorithm>
#include <set>
#include <utility>

#include "algorithms/synthesis/splitting.hpp"
#include "algorithms/synthesis/spreading.hpp"
#include "algorithms/synthesis/synthesis.hpp"

namespace athanor {

namespace {

/// Times by which capacities are rounded: the bound, and up to kMostGrowth / kGrain longer.
constexpr std::int64_t kGrain = 256;
constexpr std::int64_t kMostGrowth = 64;
/// What is accepted for fewer units: fewer messages are worth as much.
constexpr std::int64_t kLittleGrowth = 7;

std::int64_t most_units(std::uint32_t ranks) {
  return ranks <= 16 ? 24 : ranks <= kCarefulRanks ? 8 : ranks <= 256 ? 4 : 2;
}

/// What links carry of units when these take `growth` / kGrain longer than the bound: whole units.
struct Rounding {
  std::int64_t units = 1;
  std::int64_t growth = 0;

  /// Time of a unit over that of the bound.
  Ratio slowdown() const { return {kGrain + growth, kGrain}; }
  bool operator<(const Rounding& other) const {
    return std::pair(growth, units) < std::pair(other.growth, other.units);
  }
};

class Search {
 public:
  explicit Search(const CapacityGraph& graph) : graph_(graph), bound_(gather_bound(graph)) {}

  TreeSearch run() {
    std::vector<Rounding> roundings;
    for (std::int64_t units = 1; units <= most_units(graph_.ranks) && !good(); ++units) {
      const std::optional<std::int64_t> growth = least_growth(units);
      if (!growth) { continue; }
      if (*growth <= kLittleGrowth) { attempt({units, *growth}); }
      for (const std::int64_t more : {0, 4, 16}) { roundings.push_back({units, *growth + more}); }
    }
    std::sort(roundings.begin(), roundings.end());
    for (std::size_t i = 0; i < roundings.size() && !good() && tried_.size() < kMostTries; ++i) {
      if (!tried_.contains({roundings[i].units, roundings[i].growth})) { attempt(roundings[i]); }
    }
    if (best_) { return {std::move(best_), ""}; }
    return {std::nullopt, "no trees were found that go through its switches"};
  }

 private:
  static constexpr double kGoodEnough = 0.97;
  static constexpr std::size_t kMostTries = 8;
  static constexpr std::uint64_t kMostSeeds = 8;

  CapacityGraph rounded(const Rounding& rounding) const {
    CapacityGraph graph{graph_.ranks, graph_.vertices, {}};
    const Wide over = Wide{bound_.capacity} * kGrain;
    for (const CapacityLink& link : graph_.links) {
      const Wide capacity = Wide{link.capacity} * rounding.units * bound_.inside * (kGrain + rounding.growth) / over;
      const auto most = std::min<Wide>(capacity, Wide{rounding.units} * graph_.ranks);  // more is never used
      if (most > 0) { graph.links.push_back({link.from, link.to, static_cast<std::int64_t>(most)}); }
    }
    return graph;
  }

  bool fits(const Rounding& rounding) const { return holds_trees(rounded(rounding), rounding.units); }

  /// Nothing where kMostGrowth is not enough.
  std::optional<std::int64_t> least_growth(std::int64_t units) const {
    if (fits({units, 0})) { return 0; }
    if (!fits({units, kMostGrowth})) { return std::nullopt; }
    std::int64_t little = 0;
    std::int64_t enough = kMostGrowth;
    while (enough - little > 1) {
      const std::int64_t middle = little + (enough - little) / 2;
      (fits({units, middle}) ? enough : little) = middle;
    }
    return enough;
  }

  bool good() const { return best_ && best_->reached() >= kGoodEnough; }

  void attempt(const Rounding& rounding) {
    tried_.emplace(rounding.units, rounding.growth);
    std::optional<GatherTrees> found = build(rounding);
    if (found && (!best_ || found->reached() > best_->reached())) { best_ = std::move(found); }
  }

  std::optional<GatherTrees> build(const Rounding& rounding) const {
    const auto graph = without_switches(rounded(rounding), rounding.units);
    if (!graph) { return std::nullopt; }
    GatherTrees found{{*graph, rounding.units, {}}, bound_, {0, 1}, TreeMethod::spread};
    Ratio load{0, 1};
    const std::uint64_t seeds = graph->ranks <= kCarefulRanks ? kMostSeeds : 2;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      std::vector<SpanningTree> trees = spread_trees(*graph, rounding.units, seed);
      const Ratio greatest = greatest_load(*graph, trees);
      if (!found.set.trees.empty() && load <= greatest) { continue; }
      load = greatest;
      found.set.trees = std::move(trees);
      if (load <= Ratio{1, 1}) { break; }
    }
    if (load > Ratio{1, 1} && graph->ranks <= kCarefulRanks) {
      found.set.trees = pack_trees(*graph, rounding.units);
      found.method = TreeMethod::packed;
      load = {1, 1};
    }
    if (load < Ratio{1, 1}) { load = {1, 1}; }
    found.time = product(product(load, rounding.slowdown()), {bound_.inside, bound_.capacity});
    return found;
  }

  const CapacityGraph& graph_;
  GatherBound bound_;
  std::optional<GatherTrees> best_;
  std::set<std::pair<std::int64_t, std::int64_t>> tried_;  ///< units and growth
};

}  // namespace

double GatherTrees::reached() const { return to_double(Ratio{bound.inside, bound.capacity}) / to_double(time); }

TreeSearch find_trees(const CapacityGraph& graph) { return Search(graph).run(); }

}  // namespace athanor
