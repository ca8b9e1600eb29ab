#include "topologies/generators/direct/dragonfly.hpp"

#include <deque>
#include <functional>
#include <set>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/direct/direct_laws.hpp"
#include "topologies/generators/direct/dragonfly_plus.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

constexpr Arrangement kBoth[] = {Arrangement::palm_tree, Arrangement::consecutive};

/// Full, with one group less, with several cables between groups, of two groups and of one.
std::vector<DragonflyShape> shapes() {
  std::vector<DragonflyShape> found;
  for (const Arrangement arrangement : kBoth) {
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
  for (const Arrangement arrangement : kBoth) {
    for (const auto& [groups, leaves, spines, global] : std::vector<std::array<std::uint32_t, 4>>{
             {5, 2, 2, 2}, {4, 2, 2, 2}, {3, 2, 3, 2}, {2, 3, 1, 2}, {1, 4, 2, 2}, {7, 1, 3, 2}}) {
      found.push_back({groups, leaves, spines, global, arrangement});
    }
  }
  return found;
}

/// Hops from a router to all others by ways with at most one cable between groups.
std::vector<std::uint32_t> one_global_cable(const Dragonfly& graph, std::uint32_t from) {
  std::vector<std::uint32_t> hops(2 * graph.routers(), ~0U);  // by router, then by router once such a cable is behind
  std::deque<std::uint32_t> waiting{from};
  hops[from] = 0;
  while (!waiting.empty()) {
    const std::uint32_t at = waiting.front();
    waiting.pop_front();
    const bool used = at >= graph.routers();
    const std::uint32_t router = at % graph.routers();
    for (std::uint32_t port = 0; port < graph.ports(router); ++port) {
      const bool global = graph.is_global(router, port);
      if (used && global) { continue; }
      const std::uint32_t next = graph.neighbour(router, port) + (used || global ? graph.routers() : 0);
      if (hops[next] != ~0U) { continue; }
      hops[next] = hops[at] + 1;
      waiting.push_back(next);
    }
  }
  for (std::uint32_t r = 0; r < graph.routers(); ++r) { hops[r] = std::min(hops[r], hops[graph.routers() + r]); }
  return hops;
}

/// How many cables join every two groups, by group numbers; each cable is seen from both ends.
template <class Graph, class GroupOf>
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> cables_between(const Graph& graph, GroupOf group) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> found;
  for (std::uint32_t router = 0; router < graph.routers(); ++router) {
    for (std::uint32_t port = 0; port < graph.ports(router); ++port) {
      if (graph.is_global(router, port)) { ++found[{group(router), group(graph.neighbour(router, port))}]; }
    }
  }
  return found;
}

std::string refused(const std::function<void()>& make) {
  try {
    make();
  } catch (const ScenarioError& error) { return describe(error.problems()[0]); }
  return "";
}

}  // namespace

TEST_CASE("every two groups of a dragonfly are joined by equally many cables, as many as there are ports for") {
  for (const DragonflyShape& shape : shapes()) {
    CAPTURE(shape.groups);
    CAPTURE(shape.routers_per_group);
    const Dragonfly graph(shape);
    CHECK(broken_cables(graph) == "");
    const auto found = cables_between(graph, [&](std::uint32_t router) { return router / shape.routers_per_group; });
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
    const Cluster cluster = dragonfly(hosts(2 * a * g), shape, switches(2));
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

TEST_CASE("minimal ways of a dragonfly are the shortest of those with one cable between groups at most") {
  for (const DragonflyShape& shape : shapes()) {
    const Dragonfly graph(shape);
    const std::uint32_t n = graph.routers();
    const Cluster cluster = dragonfly(hosts(n), shape, switches(1));
    CAPTURE(cluster.description);
    CHECK(broken_ways(cluster, 4) == "");
    for (std::uint32_t from = 0; from < n; ++from) {
      const auto hops = one_global_cable(graph, from);
      for (std::uint32_t to = 0; to < n; ++to) {
        if (to != from) { CHECK(route(cluster, VertexId{from}, VertexId{to}, from + to).size() == hops[to] + 2); }
      }
    }
  }
}

TEST_CASE("valiant ways of a dragonfly go by a third group, every one of them, and come nowhere twice") {
  for (const DragonflyShape& shape : shapes()) {
    const std::uint32_t a = shape.routers_per_group;
    const std::uint32_t n = shape.groups * a;
    const Cluster cluster = dragonfly(hosts(n), shape, switches(1), {Routing::valiant, 9});
    CAPTURE(cluster.description);
    CHECK(broken_ways(cluster, 10) == "");
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

TEST_CASE("a dragonfly+ has the switches, cables, diameter and halves of its closed forms, and shortest ways") {
  for (const DragonflyPlusShape& shape : plus_shapes()) {
    const std::uint32_t g = shape.groups;
    const std::uint32_t l = shape.leaves_per_group;
    const Cluster cluster = dragonfly_plus(hosts(2 * l * g), shape, switches(2));
    CAPTURE(cluster.description);
    const std::uint32_t k = g == 1 ? 0 : shape.spines_per_group * shape.global_per_spine / (g - 1);
    CHECK(count(*cluster.fabric, VertexKind::leaf) == g * l);
    CHECK(count(*cluster.fabric, VertexKind::spine) == g * shape.spines_per_group);
    CHECK(inner_cables(cluster, false) == g * l * shape.spines_per_group + k * g * (g - 1) / 2);
    CHECK(longest_route(cluster) == (g > 1 ? 5 : 4));
    if (g > 1) { CHECK(bisection(cluster) == k * (g / 2) * (g - g / 2)); }
    CHECK(broken_cables(DragonflyPlus(shape)) == "");
    CHECK(broken_routes(cluster) == "");
    CHECK(broken_ways(dragonfly_plus(hosts(2 * l * g), shape, switches(2), {Routing::valiant, 1}), 6) == "");
  }
}

TEST_CASE("every two groups of a dragonfly+ are joined by equally many cables, and valiant goes by every third one") {
  const DragonflyPlusShape shape{5, 2, 2, 2, Arrangement::palm_tree};
  const DragonflyPlus graph(shape);
  for (const auto& [groups, cables] : cables_between(graph, [](std::uint32_t spine) { return (spine - 10) / 2; })) {
    CHECK(cables == 1);
  }
  const Cluster cluster = dragonfly_plus(hosts(10), shape, switches(1), {Routing::valiant, 1});
  std::set<std::uint32_t> groups;
  for (std::uint64_t flow = 0; flow < 200; ++flow) {
    const auto path = route(cluster, VertexId{0}, VertexId{9}, flow);
    CHECK((path.size() == 6 || path.size() == 8));
    groups.insert((cluster.fabric->target(path[2]).value - 20) / 2);
  }
  CHECK(groups == std::set<std::uint32_t>{1, 2, 3});
}

TEST_CASE("cables between groups may be others than those within") {
  DirectSpec spec = switches(2);
  spec.global_cable = cable(25);
  const Cluster cluster = dragonfly(hosts(72), {9, 4, 2, Arrangement::palm_tree}, spec);
  std::uint32_t slow = 0;
  for (std::uint32_t l = 0; l < cluster.fabric->links(); ++l) {
    slow += cluster.fabric->link(LinkId{l}).rate == cable(25).rate ? 1 : 0;
  }
  CHECK(slow == 9 * 8);
}

TEST_CASE("nodes stand on the routers of a dragonfly with their NICs one after the other") {
  const Cluster cluster = dragonfly(nodes(18, nvswitch_node(4, 4)), {9, 4, 2, Arrangement::palm_tree}, switches(2));
  CHECK(cluster.endpoints.size() == 72);
  CHECK(cluster.warnings.empty());
  CHECK(broken_ways(cluster, 1) == "");
  CHECK(bisection(cluster) == 4 * 5);
}

TEST_CASE("each of the ways that ugal chooses among is connected and comes nowhere twice") {
  const Cluster cluster = dragonfly(hosts(36), {9, 4, 2, Arrangement::palm_tree}, switches(1), {Routing::ugal, 1});
  for (std::uint32_t way = 0; way < cluster.router->ways(); ++way) {
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
  const std::string groups = refused([] { dragonfly(hosts(8), {10, 4, 2, Arrangement::palm_tree}, switches(2)); });
  CHECK(groups.find("10 groups of 4 routers with 2 global cables each: a group reaches only 8 others; use at most 9 "
                    "groups, or at least 3 global cables per router") != std::string::npos);
  CHECK(refused([] {
          dragonfly_plus(hosts(8), {6, 2, 2, 2, Arrangement::palm_tree}, switches(2));
        }).find("6 groups of 2 spines") != std::string::npos);
  CHECK(refused([] {
          dragonfly(hosts(73), {9, 4, 2, Arrangement::palm_tree}, switches(2));
        }).find("takes 72; use at most 72 hosts") != std::string::npos);
  CHECK(refused([] {
          check_dragonfly({2, 65536, 65536, Arrangement::palm_tree});
        }).find("use fewer") != std::string::npos);
  DirectSpec small = switches(2);
  small.radix = 6;
  CHECK(refused([&] {
          dragonfly(hosts(72), {9, 4, 2, Arrangement::palm_tree}, small);
        }).find("needs 7 ports") != std::string::npos);
}
