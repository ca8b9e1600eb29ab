#include "algorithms/synthesis/spanning_trees.hpp"

#include <set>

#include <doctest/doctest.h>

#include "algorithms/synthesis/gather_bound.hpp"
#include "algorithms/synthesis/splitting.hpp"
#include "algorithms/synthesis/spreading.hpp"
#include "tests/algorithms/synthesis/graphs.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

/// As many units as the bound allows in whole numbers.
CapacityGraph at_bound(CapacityGraph graph, std::int64_t& trees) {
  const GatherBound bound = gather_bound(graph);
  for (CapacityLink& link : graph.links) { link.capacity *= bound.inside; }
  trees = bound.capacity;
  return graph;
}

void check_trees(const CapacityGraph& graph, const std::vector<SpanningTree>& trees, std::int64_t units) {
  std::vector<std::int64_t> by_root(graph.ranks);
  for (const SpanningTree& tree : trees) {
    by_root[tree.root] += tree.units;
    std::set<std::uint32_t> reached{tree.root};
    for (const TreeLink& link : tree.links) {
      CHECK(reached.contains(link.from));
      CHECK(reached.insert(link.to).second);
    }
    CHECK(reached.size() == graph.ranks);
  }
  for (const std::int64_t all : by_root) { CHECK(all == units); }
}

}  // namespace

TEST_CASE("trees are packed to the bound on graphs of ranks at random") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::int64_t units = 0;
    const CapacityGraph graph = at_bound(simplified(random_graph(2 + seed % 6, 0, seed % 9, 5, seed)), units);
    REQUIRE(holds_trees(graph, units));
    const std::vector<SpanningTree> trees = pack_trees(graph, units);
    check_trees(graph, trees, units);
    CHECK(greatest_load(graph, trees) <= Ratio{1, 1});
  }
}

TEST_CASE("switches are taken out without loss of throughput") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::int64_t units = 0;
    const CapacityGraph graph =
        at_bound(simplified(random_graph(2 + seed % 5, 1 + seed % 4, seed % 9, 4, seed)), units);
    const auto ranks = without_switches(graph, units);
    REQUIRE(ranks);
    CHECK(ranks->vertices == ranks->ranks);
    CHECK(holds_trees(*ranks, units));
    CHECK(greatest_load(*ranks, pack_trees(*ranks, units)) <= Ratio{1, 1});
  }
}

TEST_CASE("units that are spread link by link form trees, too") {
  for (const std::uint32_t side : {2U, 3U, 4U, 5U}) {
    CAPTURE(side);
    std::int64_t units = 0;
    const CapacityGraph graph = at_bound(simplified(square_torus(side)), units);
    const std::vector<SpanningTree> trees = spread_trees(graph, units, 1);
    check_trees(graph, trees, units);
    CHECK(greatest_load(graph, trees) <= Ratio{21, 20});
  }
}
