#include "topologies/routing/dependency_cycle.hpp"

#include <set>

#include <doctest/doctest.h>

#include "tests/topologies/direct/direct_laws.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

/// Whether routes can wait for each other in a circle; where they can, that the links named are one, of links that
/// routes take one after the other.
bool prone(const Cluster& cluster) {
  const DependencyCycle cycle = dependency_cycle(cluster);
  CHECK_FALSE(cycle.sampled);
  std::set<std::pair<LinkId, LinkId>> taken;
  for (const VertexId from : cluster.endpoints) {
    for (const VertexId to : cluster.endpoints) {
      for (std::uint64_t flow = 0; flow < 4; ++flow) {
        const auto path = route(cluster, from, to, flow);
        for (std::size_t i = 1; i < path.size(); ++i) { taken.insert({path[i - 1], path[i]}); }
      }
    }
  }
  for (std::size_t i = 0; i < cycle.links.size(); ++i) {
    CHECK(taken.count({cycle.links[i], cycle.links[(i + 1) % cycle.links.size()]}) == 1);
  }
  CHECK(deadlock_warning(*cluster.fabric, cycle).empty() == cycle.links.empty());
  return !cycle.links.empty();
}

Cluster grid_of(const std::vector<std::uint32_t>& sizes, bool wraps) {
  std::uint32_t n = 1;
  for (const std::uint32_t size : sizes) { n *= size; }
  return on(hosts(n), std::string(R"("kind": ")") + (wraps ? "torus" : "mesh") + R"(", "dimensions": )" + list(sizes));
}

/// Nine groups of four routers, a host and two global cables on each.
Cluster dragonfly_of(const std::string& arrangement) {
  return on(hosts(36), R"("kind": "dragonfly", "hosts_per_router": 1, "routers_per_group": 4, "global_cables": 2,
                          "groups": 9, "arrangement": ")" +
                           arrangement + R"(")");
}

}  // namespace

TEST_CASE("trees, meshes and dimension order in a HyperX need one virtual channel") {
  CHECK_FALSE(prone(star(hosts(5), cable())));
  for (const std::uint32_t tiers : {2U, 3U}) {
    for (const Routing routing : {Routing::d_mod_k, Routing::ecmp}) {
      ClosSpec spec = clos_of_radix(4);
      spec.tiers = tiers;
      CHECK_FALSE(prone(fat_tree(hosts(tiers == 2 ? 8 : 16), spec, {routing, 1})));
    }
  }
  CHECK_FALSE(prone(grid_of({5}, false)));
  CHECK_FALSE(prone(grid_of({3, 4}, false)));
  CHECK_FALSE(prone(grid_of({3, 3, 3}, false)));
  CHECK_FALSE(prone(on(hosts(24), R"("kind": "hyperx", "dimensions": [3, 4], "hosts_per_switch": 2)")));
  CHECK_FALSE(prone(on(hosts(20), R"("kind": "dragonfly_plus", "leaves_per_group": 2, "groups": 5)")));
}

TEST_CASE("rings of five and more, dragonflies, Slim Flies and detours can wait for each other in a circle") {
  CHECK_FALSE(prone(grid_of({3}, true)));  // no route takes two links of a ring of three
  // Of four, routes of two links towards + begin at even positions and those towards - at odd ones: no two follow.
  CHECK_FALSE(prone(grid_of({4}, true)));
  CHECK_FALSE(prone(grid_of({4, 4}, true)));
  CHECK(prone(grid_of({5}, true)));
  CHECK(prone(grid_of({4, 6}, true)));
  CHECK(prone(on(hosts(32), R"("kind": "torus", "dimensions": [2, 4, 4], "twists": "tpu_v4")")));
  CHECK(prone(dragonfly_of("palm_tree")));
  CHECK(prone(dragonfly_of("consecutive")));
  CHECK(prone(on(hosts(50), R"("kind": "slim_fly", "q": 5, "hosts_per_router": 1)")));
  CHECK(prone(on(hosts(12), R"("kind": "hyperx", "dimensions": [3, 4])", {Routing::valiant, 1})));
  CHECK(prone(on(hosts(10), R"("kind": "dragonfly_plus", "leaves_per_group": 2, "hosts_per_leaf": 1, "groups": 5)",
                 {Routing::valiant, 1})));
}

TEST_CASE("the warning names the links of the circle, and a part of the routes is said to be one") {
  const Cluster ring = grid_of({5}, true);
  CHECK(deadlock_warning(*ring.fabric, dependency_cycle(ring)) ==
        "deadlock-prone under PFC or credits on one virtual channel: routes wait for each other in a circle, host0 -> "
        "host1 waits "
        "for host1 -> host2 waits for host2 -> host3 waits for host3 -> host4 waits for host4 -> host0 waits for the "
        "first");
  const Cluster eight = grid_of({16}, true);
  CHECK(deadlock_warning(*eight.fabric, dependency_cycle(eight)).find("waits for 10 more") != std::string::npos);
  CHECK(dependency_cycle(grid_of({8, 8}, false), 1, 1000).sampled);
}

TEST_CASE("links inside a node are no channels of the network") {
  const Cluster cluster = single_node(cube_mesh_node());
  CHECK(dependency_cycle(cluster).links.empty());
}
