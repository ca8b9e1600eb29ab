#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/route_laws.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

const std::vector<std::vector<std::uint32_t>> kShapes = {
    {1}, {2}, {3}, {5}, {8}, {2, 2}, {3, 4}, {1, 5}, {4, 4, 4}, {2, 3, 5}, {2, 2, 2, 2}, {3, 2, 4, 2}};

std::uint32_t product(const std::vector<std::uint32_t>& dimensions) {
  std::uint32_t n = 1;
  for (const std::uint32_t d : dimensions) { n *= d; }
  return n;
}

}  // namespace

TEST_CASE("a torus has a cable per position and dimension, half as many for two positions, none for one") {
  for (const auto& dimensions : kShapes) {
    const std::uint32_t n = product(dimensions);
    CAPTURE(n);
    const Cluster cluster = torus(hosts(n), dimensions);
    std::uint32_t links = 0;
    for (const std::uint32_t d : dimensions) { links += d == 1 ? 0 : d == 2 ? n : 2 * n; }
    CHECK(cluster.fabric->vertices() == n);
    CHECK(cluster.fabric->links() == links);
    CHECK(broken_routes(cluster) == "");
  }
}

TEST_CASE("all to all loads every link of a torus alike: of two equal ways round each carries half") {
  for (const std::uint32_t side : {3U, 4U, 5U, 8U}) {  // of 6, three even positions share six links: not quite
    for (const std::size_t dimensions : {1U, 2U}) {
      CAPTURE(side);
      const std::vector<std::uint32_t> sides(dimensions, side);
      const Cluster cluster = torus(hosts(product(sides)), sides);
      std::vector<std::uint32_t> load(cluster.fabric->links(), 0);
      for (const VertexId from : cluster.endpoints) {
        for (const VertexId to : cluster.endpoints) {
          for (const LinkId link : route(cluster, from, to)) { ++load[link.value]; }
        }
      }
      // A line of k positions has k^2 pairs that take k/4 steps on average (k odd: (k - 1/k) / 4), over 2k links; as
      // many lines as pairs of positions elsewhere share it.
      const std::uint32_t expected = (side * side - side % 2) / 8 * product(sides) / side;
      for (const std::uint32_t each : load) { CHECK(each == expected); }
    }
  }
}

TEST_CASE(
    "dimension order finishes one dimension before the next, and even positions take + where both ways are equal") {
  const Cluster cluster = torus(hosts(24), {4, 6});
  const auto path = route(cluster, VertexId{0}, VertexId{2 * 6 + 3});
  std::vector<std::uint32_t> met;
  for (const LinkId link : path) { met.push_back(cluster.fabric->target(link).value); }
  CHECK(met == std::vector<std::uint32_t>{6, 12, 13, 14, 15});
}

TEST_CASE("the longest route of a torus is the sum of half its dimensions") {
  for (const auto& dimensions : kShapes) {
    const std::uint32_t n = product(dimensions);
    const Cluster cluster = torus(hosts(n), dimensions);
    std::size_t longest = 0;
    for (std::uint32_t to = 0; to < n; ++to) {
      longest = std::max(longest, route(cluster, VertexId{0}, VertexId{to}).size());
    }
    std::size_t expected = 0;
    for (const std::uint32_t d : dimensions) { expected += d / 2; }
    CHECK(longest == expected);
  }
}

TEST_CASE("nodes on a torus share the ports of their position's router") {
  const Cluster cluster = torus(nodes(12, nvswitch_node(4, 2)), {3, 4}, {}, cable(100));
  CHECK(count(*cluster.fabric, VertexKind::router) == 12);
  CHECK(broken_routes(cluster) == "");
  for (const Cut& cut : natural_cuts(cluster)) {
    if (cut.name == "node 0") { CHECK(cut.out == cable().rate * 2); }
    if (cut.name == "position 0") { CHECK(cut.out == cable(100).rate * 4); }
  }
}

TEST_CASE("a torus takes exactly as many members as it has positions, and is routed in dimension order only") {
  CHECK_THROWS_AS(torus(hosts(7), {2, 4}), ScenarioError);
  CHECK_THROWS_AS(torus(hosts(8), {0, 4}), ScenarioError);
  CHECK_THROWS_AS(torus(hosts(8), {65536, 65536, 65536}), ScenarioError);
  CHECK_THROWS_AS(torus(hosts(8), {2, 4}, {Routing::ecmp, 0}), ScenarioError);
}
