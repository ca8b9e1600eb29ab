#include <deque>
#include <set>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/direct/direct_laws.hpp"
#include "topologies/cluster.hpp"
#include "topologies/kinds/groups.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

const std::string kBoth[] = {"palm_tree", "consecutive"};

struct DragonflyShape {
  std::uint32_t groups, routers_per_group, global_per_router;
  std::string arrangement = "palm_tree";
};

struct DragonflyPlusShape {
  std::uint32_t groups, leaves_per_group, spines_per_group, global_per_spine;
  std::string arrangement = "palm_tree";
};

std::string keys(const char* kind, const std::string& arrangement,
                 std::initializer_list<std::pair<const char*, std::uint32_t>> more) {
  std::string text = R"("kind": ")" + std::string(kind) + R"(", "arrangement": ")" + arrangement + R"(")";
  for (const auto& [key, value] : more) { text += R"(, ")" + std::string(key) + R"(": )" + std::to_string(value); }
  return text;
}

std::string keys(const DragonflyShape& shape, std::uint32_t hosts_each) {
  return keys("dragonfly", shape.arrangement,
              {{"groups", shape.groups},
               {"routers_per_group", shape.routers_per_group},
               {"global_cables", shape.global_per_router},
               {"hosts_per_router", hosts_each}});
}

std::string keys(const DragonflyPlusShape& shape, std::uint32_t hosts_each) {
  return keys("dragonfly_plus", shape.arrangement,
              {{"groups", shape.groups},
               {"leaves_per_group", shape.leaves_per_group},
               {"spines_per_group", shape.spines_per_group},
               {"global_cables", shape.global_per_spine},
               {"hosts_per_leaf", hosts_each}});
}

/// Full, with one group less, with several cables between groups, of two groups and of one.
std::vector<DragonflyShape> shapes() {
  std::vector<DragonflyShape> found;
  for (const std::string& arrangement : kBoth) {
    for (const auto& [groups, routers, global] : std::vector<std::array<std::uint32_t, 3>>{{3, 2, 1},
                                                                                           {9, 4, 2},
                                                                                           {8, 4, 2},
                                                                                           {5, 4, 3},
                                                                                           {3, 5, 2},
                                                                                           {2, 3, 1},
                                                                                           {2, 1, 4},
                                                                                           {1, 4, 2},
                                                                                           {7, 3, 2},
                                                                                           {4, 1, 3}}) {
      found.push_back({groups, routers, global, arrangement});
    }
  }
  return found;
}

std::vector<DragonflyPlusShape> plus_shapes() {
  std::vector<DragonflyPlusShape> found;
  for (const std::string& arrangement : kBoth) {
    for (const auto& [groups, leaves, spines, global] : std::vector<std::array<std::uint32_t, 4>>{
             {5, 2, 2, 2}, {4, 2, 2, 2}, {3, 2, 3, 2}, {2, 3, 1, 2}, {1, 4, 2, 2}, {7, 1, 3, 2}}) {
      found.push_back({groups, leaves, spines, global, arrangement});
    }
  }
  return found;
}

/// Hops from a router to all others by paths with at most one cable between groups of so many routers.
std::vector<std::uint32_t> one_global_cable(const Neighbours& routers, std::uint32_t per_group, std::uint32_t from) {
  const auto n = static_cast<std::uint32_t>(routers.size());
  std::vector<std::uint32_t> hops(2 * n, ~0U);  // by router, then by router once such a cable is behind
  std::deque<std::uint32_t> waiting{from};
  hops[from] = 0;
  while (!waiting.empty()) {
    const std::uint32_t at = waiting.front();
    waiting.pop_front();
    const bool used = at >= n;
    for (const std::uint32_t other : routers[at % n]) {
      const bool global = other / per_group != at % n / per_group;
      if (used && global) { continue; }
      const std::uint32_t next = other + (used || global ? n : 0);
      if (hops[next] != ~0U) { continue; }
      hops[next] = hops[at] + 1;
      waiting.push_back(next);
    }
  }
  for (std::uint32_t r = 0; r < n; ++r) { hops[r] = std::min(hops[r], hops[n + r]); }
  return hops;
}

/// How many cables join every two groups, by group numbers; each cable is seen from both ends.
template <class GroupOf>
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> cables_between(const Neighbours& routers,
                                                                                GroupOf group) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> found;
  for (std::uint32_t router = 0; router < routers.size(); ++router) {
    for (const std::uint32_t other : routers[router]) {
      if (group(router) != group(other)) { ++found[{group(router), group(other)}]; }
    }
  }
  return found;
}

}  // namespace

TEST_CASE("every two groups of a dragonfly are joined by equally many cables, as many as there are ports for") {
  for (const DragonflyShape& shape : shapes()) {
    CAPTURE(shape.groups);
    CAPTURE(shape.routers_per_group);
    const Neighbours routers = neighbours_of(on(hosts(1), keys(shape, 1)));
    CHECK(broken_cables(routers) == "");
    const auto found = cables_between(routers, [&](std::uint32_t router) { return router / shape.routers_per_group; });
    const std::uint32_t g = shape.groups;
    CHECK(found.size() == g * (g - 1));
    for (const auto& [groups, cables] : found) {
      CHECK(cables == shape.routers_per_group * shape.global_per_router / (g - 1));
    }
  }
}

TEST_CASE("a dragonfly has the routers, cables, ports, diameter and halves of its closed forms") {
  for (const DragonflyShape& shape : shapes()) {
    const std::uint32_t g = shape.groups;
    const std::uint32_t a = shape.routers_per_group;
    const Cluster cluster = on(hosts(2 * a * g), keys(shape, 2));
    CAPTURE(cluster.description);
    const std::uint32_t k = g == 1 ? 0 : a * shape.global_per_router / (g - 1);
    CHECK(count(*cluster.fabric, VertexKind::router) == a * g);
    CHECK(inner_cables(cluster, false) == g * a * (a - 1) / 2 + k * g * (g - 1) / 2);
    for (std::uint32_t r = 0; r < a * g; ++r) {
      CHECK(cluster.fabric->out(VertexId{2 * a * g + r}).count <= 2 + a - 1 + shape.global_per_router);
    }
    CHECK(longest_route(cluster) <= 5);
    if (g > 1) { CHECK(bisection(cluster) == k * (g / 2) * (g - g / 2)); }
    if (g == a * shape.global_per_router + 1 && a > 2) { CHECK(longest_route(cluster) == 5); }
  }
}

TEST_CASE("minimal paths of a dragonfly are the shortest of those with one cable between groups at most") {
  for (const DragonflyShape& shape : shapes()) {
    const std::uint32_t n = shape.groups * shape.routers_per_group;
    const Cluster cluster = on(hosts(n), keys(shape, 1));
    const Neighbours routers = neighbours_of(cluster);
    CAPTURE(cluster.description);
    CHECK(broken_paths(cluster, 4) == "");
    for (std::uint32_t from = 0; from < n; ++from) {
      const auto hops = one_global_cable(routers, shape.routers_per_group, from);
      for (std::uint32_t to = 0; to < n; ++to) {
        if (to != from) { CHECK(route(cluster, VertexId{from}, VertexId{to}, from + to).size() == hops[to] + 2); }
      }
    }
  }
}

TEST_CASE("valiant paths of a dragonfly go by a third group, every one of them, and come nowhere twice") {
  for (const DragonflyShape& shape : shapes()) {
    const std::uint32_t a = shape.routers_per_group;
    const std::uint32_t n = shape.groups * a;
    const Cluster cluster = on(hosts(n), keys(shape, 1), {Routing::valiant, 9});
    CAPTURE(cluster.description);
    CHECK(broken_paths(cluster, 10) == "");
    CHECK(longest_route(cluster, 10) <= 2 + 6);
    if (shape.groups < 3) { continue; }
    std::set<std::uint32_t> groups;
    for (std::uint64_t flow = 0; flow < 200; ++flow) {
      for (const LinkId link : route(cluster, VertexId{0}, VertexId{n - 1}, flow)) {
        const std::uint32_t at = cluster.fabric->target(link).value;
        if (at >= n) { groups.insert((at - n) / a); }
      }
    }
    CHECK(groups.size() == shape.groups);
  }
}

TEST_CASE("a dragonfly+ has the switches, cables, diameter and halves of its closed forms, and shortest paths") {
  for (const DragonflyPlusShape& shape : plus_shapes()) {
    const std::uint32_t g = shape.groups;
    const std::uint32_t l = shape.leaves_per_group;
    const Cluster cluster = on(hosts(2 * l * g), keys(shape, 2));
    CAPTURE(cluster.description);
    const std::uint32_t k = g == 1 ? 0 : shape.spines_per_group * shape.global_per_spine / (g - 1);
    CHECK(count(*cluster.fabric, VertexKind::leaf) == g * l);
    CHECK(count(*cluster.fabric, VertexKind::spine) == g * shape.spines_per_group);
    CHECK(inner_cables(cluster, false) == g * l * shape.spines_per_group + k * g * (g - 1) / 2);
    CHECK(longest_route(cluster) == (g > 1 ? 5 : 4));
    if (g > 1) { CHECK(bisection(cluster) == k * (g / 2) * (g - g / 2)); }
    CHECK(broken_cables(neighbours_of(cluster)) == "");
    CHECK(broken_routes(cluster) == "");
    CHECK(broken_paths(on(hosts(2 * l * g), keys(shape, 2), {Routing::valiant, 1}), 6) == "");
  }
}

TEST_CASE("every two groups of a dragonfly+ are joined by equally many cables, and valiant goes by every third one") {
  const Cluster cluster = on(hosts(10), keys(DragonflyPlusShape{5, 2, 2, 2}, 1), {Routing::valiant, 1});
  const auto group = [](std::uint32_t router) { return router < 10 ? router / 2 : (router - 10) / 2; };
  const auto between = cables_between(neighbours_of(cluster), group);
  CHECK(between.size() == 5 * 4);
  for (const auto& [groups, cables] : between) { CHECK(cables == 1); }
  std::set<std::uint32_t> groups;
  for (std::uint64_t flow = 0; flow < 200; ++flow) {
    const auto path = route(cluster, VertexId{0}, VertexId{9}, flow);
    CHECK((path.size() == 6 || path.size() == 8));
    groups.insert((cluster.fabric->target(path[2]).value - 20) / 2);
  }
  CHECK(groups == std::set<std::uint32_t>{1, 2, 3});
}

TEST_CASE("cables between groups may be others than those within") {
  const Cluster cluster =
      on(hosts(72), keys(DragonflyShape{9, 4, 2}, 2) + R"(, "global_link": {"rate": "25GB/s", "latency": "250ns"})");
  std::uint32_t slow = 0;
  for (std::uint32_t l = 0; l < cluster.fabric->links(); ++l) {
    slow += cluster.fabric->link(LinkId{l}).rate == cable(25).rate ? 1 : 0;
  }
  CHECK(slow == 9 * 8);
}

TEST_CASE("nodes stand on the routers of a dragonfly with their NICs one after the other") {
  const Cluster cluster = on(nodes(18, nvswitch_node(4, 4)), keys(DragonflyShape{9, 4, 2}, 2));
  CHECK(cluster.endpoints.size() == 72);
  CHECK(cluster.warnings.empty());
  CHECK(broken_paths(cluster, 1) == "");
  CHECK(bisection(cluster) == 4 * 5);
}

TEST_CASE("each of the paths that ugal chooses among is connected and comes nowhere twice") {
  const Cluster cluster = on(hosts(36), keys(DragonflyShape{9, 4, 2}, 1), {Routing::ugal, 1});
  for (std::uint32_t way = 0; way < cluster.router->paths(); ++way) {
    for (const VertexId from : cluster.endpoints) {
      for (const VertexId to : cluster.endpoints) {
        std::vector<LinkId> path;
        cluster.router->route({from, to, 0, way}, path);
        CHECK(broken(*cluster.fabric, from, to, path) == "");
      }
    }
  }
}

TEST_CASE("more groups than can be joined are refused with how many can") {
  const auto bad = [](std::uint32_t members, const auto& shape, const std::string& more = "") {
    return refused(hosts(members), keys(shape, 2) + more);
  };
  CHECK(bad(8, DragonflyShape{10, 4, 2})
            .find("10 groups of 4 routers with 2 global cables each: a group reaches only 8 others; use at most 9 "
                  "groups, or at least 3 global cables per router") != std::string::npos);
  CHECK(bad(8, DragonflyPlusShape{6, 2, 2, 2}).find("6 groups of 2 spines") != std::string::npos);
  CHECK(bad(73, DragonflyShape{9, 4, 2}).find("takes 72; use at most 72 hosts") != std::string::npos);
  CHECK(bad(72, DragonflyShape{9, 4, 2}, R"(, "radix": 6)").find("needs 7 ports") != std::string::npos);
  CHECK_THROWS_AS(check_groups(2, 65536, "router", 65536), ScenarioError);
}
