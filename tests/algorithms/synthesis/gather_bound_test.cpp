#include "algorithms/synthesis/gather_bound.hpp"

#include <doctest/doctest.h>

#include "sim/ratio.hpp"
#include "tests/algorithms/synthesis/graphs.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

Ratio time_of(const CapacityGraph& graph) {
  const GatherBound bound = gather_bound(graph);
  return {bound.inside, bound.capacity};
}

/// The definition: every set of vertices that does not have all ranks inside.
Ratio by_all_cuts(const CapacityGraph& graph) {
  Ratio greatest{0, 1};
  for (std::uint32_t set = 1; set < (1U << graph.vertices); ++set) {
    std::uint32_t inside = 0;
    for (std::uint32_t rank = 0; rank < graph.ranks; ++rank) { inside += set >> rank & 1U; }
    if (inside == 0 || inside == graph.ranks) { continue; }
    std::int64_t capacity = 0;
    for (const CapacityLink& link : graph.links) {
      if ((set >> link.from & 1U) != 0 && (set >> link.to & 1U) == 0) { capacity += link.capacity; }
    }
    greatest = std::max(greatest, Ratio{inside, capacity});
  }
  return greatest;
}

}  // namespace

TEST_CASE("a ring whose cables differ is bound by the two ranks, or the two cables, that are narrowest") {
  // All but one of n ranks go into the last over both of its cables.
  for (const std::uint32_t ranks : {3U, 4U, 7U, 12U}) {
    CAPTURE(ranks);
    CHECK(time_of(cable_ring(std::vector<std::int64_t>(ranks, 5))) == Ratio{ranks - 1, 10});
    std::vector<std::int64_t> capacities(ranks, 5);
    capacities[1] = 1;  // both ranks at its ends have 6 to get all others' data, any longer part 6 for less
    CHECK(time_of(cable_ring(capacities)) == Ratio{ranks - 1, 6});
  }
  CHECK(time_of(cable_ring({9, 8, 9, 8})) == Ratio{3, 17});  // one rank; a half gets 2 ranks' data over 16
  CHECK(time_of(cable_ring({9, 1, 9, 1})) == Ratio{2, 2});   // two halves that two cables join
}

TEST_CASE("on one switch all others' data enter each rank") {
  for (const std::uint32_t ranks : {2U, 3U, 8U, 16U}) {
    CAPTURE(ranks);
    CHECK(time_of(one_switch(ranks, 25)) == Ratio{ranks - 1, 25});
  }
}

TEST_CASE("in a torus all others' data enter each rank over its four cables") {
  CHECK(time_of(square_torus(2)) == Ratio{3, 4});
  CHECK(time_of(square_torus(3)) == Ratio{8, 4});
  CHECK(time_of(square_torus(8)) == Ratio{63, 4});
}

TEST_CASE("an oversubscribed leaf is the bound of two tiers") {
  // 12 of 16 ranks' data enter a leaf over one cable of 10; one rank has 15 over 20.
  CHECK(time_of(two_tiers(4, 4, 20, 10)) == Ratio{12, 10});
  CHECK(time_of(two_tiers(4, 4, 20, 80)) == Ratio{15, 20});  // not oversubscribed
}

TEST_CASE("nodes on rails have as many ways in as ranks") {
  CHECK(time_of(rails(4, 8, 900, 50)) == Ratio{24, 8 * 50});
  CHECK(time_of(rails(4, 8, 400, 50)) == Ratio{31, 450});    // fast outside beside inside: one rank
  CHECK(time_of(rails(4, 8, 10, 50)) == Ratio{28, 4 * 10});  // slow inside: all rails but one into that
}

TEST_CASE("the bound of a reduce-scatter is that of the transposed graph") {
  // Rank 2 sends by a link of 1 and gets by one of 7.
  const CapacityGraph graph{3, 3, {{0, 1, 7}, {1, 0, 7}, {1, 2, 7}, {2, 1, 1}}};
  CHECK(time_of(graph) == Ratio{1, 1});
  CHECK(time_of(transposed(graph)) == Ratio{2, 1});
}

TEST_CASE("the bound is that of all cuts, one by one, on graphs at random") {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    const CapacityGraph graph = random_graph(2 + seed % 6, seed % 4, seed % 9, 1 + seed % 12, seed);
    CHECK(time_of(graph) == by_all_cuts(graph));
    CHECK(time_of(simplified(graph)) == by_all_cuts(graph));
  }
}

TEST_CASE("so many trees fit as the bound says") {
  const CapacityGraph graph = one_switch(8, 7);
  CHECK(holds_trees(graph, 1));
  CHECK_FALSE(holds_trees(graph, 2));
}

TEST_CASE("ranks that do not reach each other are told") {
  CHECK_FALSE(unreachable_pair(square_torus(2)));
  CHECK(unreachable_pair(CapacityGraph{3, 3, {{0, 1, 1}, {1, 0, 1}, {2, 0, 1}}}) == std::pair(0U, 2U));
  CHECK(unreachable_pair(CapacityGraph{3, 3, {{0, 1, 1}, {1, 0, 1}, {0, 2, 1}}}) == std::pair(2U, 0U));
}
