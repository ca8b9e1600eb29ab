#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "tests/topologies/direct/direct_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

struct Shape {
  std::uint32_t switches, cables;
};

/// Rings, sparse and dense graphs, complete ones and such that lack a cable or two at each switch.
const std::vector<Shape> kShapes = {{2, 1},   {3, 2},  {4, 2}, {17, 2}, {200, 2}, {4, 3},   {6, 3},
                                    {50, 3},  {8, 7},  {9, 8}, {8, 6},  {10, 7},  {9, 6},   {20, 4},
                                    {33, 10}, {64, 8}, {5, 4}, {6, 4},  {7, 4},   {100, 11}};

std::string keys(const Shape& shape, std::uint32_t hosts_each = 1, std::uint64_t seed = 1) {
  return R"("kind": "jellyfish", "switches": )" + std::to_string(shape.switches) + R"(, "cables_per_switch": )" +
         std::to_string(shape.cables) + R"(, "hosts_per_switch": )" + std::to_string(hosts_each) + R"(, "seed": )" +
         std::to_string(seed);
}

/// The mean distance of two switches, in cables between them.
double mean_distance(const Cluster& cluster) {
  std::size_t sum = 0;
  for (const VertexId from : cluster.endpoints) {
    for (const VertexId to : cluster.endpoints) { sum += from == to ? 0 : route(cluster, from, to).size() - 2; }
  }
  const auto n = static_cast<double>(cluster.endpoints.size());
  return static_cast<double>(sum) / (n * (n - 1));
}

/// What no regular graph has less than (Cerf et al., 1974): r others at distance 1, r (r - 1) at 2, and so on.
double least_mean_distance(const Shape& shape) {
  std::uint64_t left = shape.switches - 1;
  std::uint64_t level = shape.cables;
  double sum = 0;
  for (std::uint32_t distance = 1; left > 0; ++distance) {
    const std::uint64_t here = std::min(left, level);
    sum += static_cast<double>(distance * here);
    left -= here;
    level *= shape.cables - 1;
  }
  return sum / (shape.switches - 1);
}

}  // namespace

TEST_CASE("every switch of a Jellyfish has exactly as many cables, each to another switch, and all are connected") {
  for (const Shape& shape : kShapes) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const Cluster cluster = on(hosts(shape.switches), keys(shape, 1, seed));
      CAPTURE(cluster.description);
      CAPTURE(seed);
      const Neighbours routers = neighbours_of(cluster);
      CHECK(broken_cables(routers) == "");
      std::set<std::uint32_t> met{0};
      for (std::vector<std::uint32_t> waiting{0}; !waiting.empty();) {
        const std::uint32_t at = waiting.back();
        waiting.pop_back();
        CHECK(std::set<std::uint32_t>(routers[at].begin(), routers[at].end()).size() == shape.cables);
        CHECK(routers[at].size() == shape.cables);
        for (const std::uint32_t next : routers[at]) {
          if (met.insert(next).second) { waiting.push_back(next); }
        }
      }
      CHECK(met.size() == shape.switches);
    }
  }
}

TEST_CASE("equal seeds wire a Jellyfish alike, others do not") {
  const auto wiring = [](std::uint64_t seed) { return neighbours_of(on(hosts(40), keys({40, 5}, 1, seed))); };
  CHECK(wiring(3) == wiring(3));
  CHECK(wiring(3) != wiring(4));
}

TEST_CASE("routes of a Jellyfish are shortest paths, and flows spread over all of them") {
  for (const Shape& shape : kShapes) {
    const Cluster cluster = on(hosts(2 * shape.switches), keys(shape, 2));
    CAPTURE(cluster.description);
    CHECK(broken_routes(cluster, 60) == "");
    if (shape.switches <= 64) { CHECK(broken_paths(cluster, 3) == ""); }
  }
  const Cluster full = on(hosts(6), keys({6, 4}));  // two switches that are not joined have four others between them
  const Neighbours routers = neighbours_of(full);
  std::uint32_t far = 1;
  while (std::count(routers[0].begin(), routers[0].end(), far) > 0) { ++far; }
  std::set<LinkId> first;
  for (std::uint64_t flow = 0; flow < 200; ++flow) { first.insert(route(full, VertexId{0}, VertexId{far}, flow)[1]); }
  CHECK(first.size() == 4);
}

TEST_CASE("the mean distance in a Jellyfish is at most a fifth above the least that any regular graph has") {
  for (const Shape& shape : std::vector<Shape>{{50, 3}, {100, 5}, {200, 8}, {98, 11}, {246, 11}, {400, 16}}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(shape.switches);
      CAPTURE(shape.cables);
      const double mean = mean_distance(on(hosts(shape.switches), keys(shape, 1, seed)));
      CHECK(mean >= least_mean_distance(shape));
      CHECK(mean <= (shape.cables < 5 ? 1.2 : 1.14) * least_mean_distance(shape));
    }
  }
}

TEST_CASE("a Jellyfish has no longer distance than random regular graphs have been proven to have") {
  for (const Shape& shape : std::vector<Shape>{{50, 3}, {100, 5}, {200, 8}, {246, 11}}) {
    // Bollobas and de la Vega, "The diameter of random regular graphs", 1982.
    const double most = 1 + std::ceil(std::log(2.1 * shape.cables * shape.switches * std::log(shape.switches)) /
                                      std::log(shape.cables - 1));
    CAPTURE(shape.switches);
    CHECK(static_cast<double>(longest_route(on(hosts(shape.switches), keys(shape)))) <= 2 + most);
  }
}

TEST_CASE("halves of a Jellyfish are joined by about a quarter of the cables' ends, and no half by fewer than proven") {
  for (const Shape& shape : std::vector<Shape>{{16, 4}, {18, 5}, {20, 8}}) {
    const Cluster cluster = on(hosts(shape.switches), keys(shape));
    CAPTURE(shape.cables);
    const double n = shape.switches;
    const double r = shape.cables;
    CHECK(static_cast<double>(bisection_by_search(neighbours_of(cluster))) >=
          n * (r / 4 - std::sqrt(r * std::log(2.0)) / 2));
  }
  const auto half = static_cast<double>(bisection(on(hosts(1000), keys({1000, 12}))));
  CHECK(half > 0.9 * 1000 * 12 / 4);
  CHECK(half < 1.1 * 1000 * 12 / 4);
}

TEST_CASE("valiant paths of a Jellyfish come nowhere twice") {
  CHECK(broken_paths(on(hosts(33), keys({33, 10}), {Routing::valiant, 2}), 5) == "");
}

TEST_CASE("a Jellyfish takes nodes, as many hosts as it is said to have, and as few on a switch as take all") {
  CHECK(broken_routes(on(nodes(20, nvswitch_node(4, 4)), keys({20, 4}, 4)), 16) == "");
  const std::string link = R"("link": {"rate": "50GB/s", "latency": "300ns"})";
  const std::string open = R"({"cluster": {"nodes": 30, "fabric": {"kind": "jellyfish", "switches": 20,
    "cables_per_switch": 4, )" +
                           link + "}}}";
  CHECK(good(open).warnings[0].find("30 of 40 links to hosts") != std::string::npos);
  CHECK(good(R"({"cluster": {"fabric": {)" + keys({20, 4}, 3) + ", " + link + "}}}").endpoints.size() == 60);
}

TEST_CASE("what is no connected regular graph is refused with what would be one") {
  const auto bad = [](std::uint32_t members, const Shape& shape, const std::string& more = "") {
    return refused(hosts(members), keys(shape) + more);
  };
  CHECK(bad(5, {5, 5}).find("5 switches with 5 cables each to others; use at most 4 cables") != std::string::npos);
  CHECK(bad(1, {1, 1}).find("use a star") != std::string::npos);
  CHECK(bad(5, {5, 3}).find("odd number of ends; make one of the two even") != std::string::npos);
  CHECK(bad(4, {4, 1}).find("joined in pairs only") != std::string::npos);
  CHECK(bad(21, {20, 4}).find("takes 20; use at most 20 hosts") != std::string::npos);
  CHECK(bad(20, {20, 4}, R"(, "radix": 4)").find("needs 5 ports, 4 of them to other switches") != std::string::npos);
  CHECK(bad(20, {0, 4}).find("out-of-range") != std::string::npos);
  CHECK(bad(20, {20, 0}).find("out-of-range") != std::string::npos);
  CHECK(bad(20, {5000, 4}).find("too-large") != std::string::npos);
}
