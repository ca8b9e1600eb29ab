#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "models/network/connections.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;

namespace {

Cluster balanced_dragonfly(Routing routing) {
  using namespace literals;
  const CableSpec cable{50_GBps, 50_GBps, 50_ns, 200_ns};
  return cluster_on(R"("kind": "dragonfly", "hosts_per_router": 2)", hosts(72), {routing, 1}, cable, cable);
}

/// Every host of each group sends to one of the next group: what minimal routing is worst at.
std::vector<std::vector<LinkId>> to_next_group(const Cluster& cluster) {
  AdaptiveRoutes routes(*cluster.router, *cluster.fabric);
  std::vector<std::vector<LinkId>> paths(cluster.endpoints.size());
  for (std::uint32_t host = 0; host < paths.size(); ++host) {
    routes.open({cluster.endpoints[host], cluster.endpoints[(host + 8) % paths.size()], 0}, paths[host]);
  }
  return paths;
}

std::uint32_t busiest(const Cluster& cluster, const std::vector<std::vector<LinkId>>& paths) {
  std::vector<std::uint32_t> flows(cluster.fabric->links(), 0);
  for (const auto& path : paths) {
    for (const LinkId link : path) { ++flows[link.value]; }
  }
  return *std::max_element(flows.begin(), flows.end());
}

}  // namespace

TEST_CASE("traffic to the next group shares one cable by minimal ways, and spreads under ugal") {
  const Cluster minimal = balanced_dragonfly(Routing::minimal);
  const Cluster ugal = balanced_dragonfly(Routing::ugal);
  CHECK(busiest(minimal, to_next_group(minimal)) == 8);
  CHECK(busiest(ugal, to_next_group(ugal)) <= 4);
  CHECK(to_next_group(ugal) == to_next_group(ugal));
}

TEST_CASE("a flow that is alone goes as under minimal routing, and one way is not chosen among") {
  for (std::uint32_t to = 0; to < 72; to += 5) {
    std::vector<LinkId> path;
    std::vector<LinkId> shortest;
    const Cluster ugal = balanced_dragonfly(Routing::ugal);
    const Cluster minimal = balanced_dragonfly(Routing::minimal);
    AdaptiveRoutes(*ugal.router, *ugal.fabric).open({VertexId{3}, VertexId{to}, 7}, path);
    minimal.router->route({VertexId{3}, VertexId{to}, 7}, shortest);
    CHECK(path == shortest);
    CHECK(minimal.router->paths() == 1);
  }
}

TEST_CASE("every way of ugal is connected: the first as short as minimal, the others by way of elsewhere") {
  const Cluster cluster = balanced_dragonfly(Routing::ugal);
  CHECK(cluster.router->paths() == kAdaptivePaths);
  std::set<std::size_t> lengths;
  for (std::uint32_t way = 0; way < cluster.router->paths(); ++way) {
    std::vector<LinkId> path;
    cluster.router->route({VertexId{0}, VertexId{71}, 0, way}, path);
    CHECK(cluster.fabric->source(path.front()) == VertexId{0});
    CHECK(cluster.fabric->target(path.back()) == VertexId{71});
    for (std::size_t i = 1; i < path.size(); ++i) {
      CHECK(cluster.fabric->target(path[i - 1]) == cluster.fabric->source(path[i]));
    }
    if (way < kShortestPaths) { CHECK(path.size() <= 5); }
    lengths.insert(path.size());
  }
  CHECK(lengths.size() > 1);
}
