#include "topologies/routing/shortest_path_router.hpp"

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

/// "": there is none.
std::string route_text(const ShortestPathRouter& router, const RouteRequest& request) {
  std::vector<LinkId> path;
  try {
    router.route(request, path);
  } catch (const SimulationError& error) { return error.what(); }
  std::string text;
  for (const LinkId link : path) { text += std::to_string(link.value) + " "; }
  return text;
}

}  // namespace

// A router that knows all distances to a destination takes them; one that does not looks around either end first.
TEST_CASE("a route is the same, whether all distances to its end are known or only what lies near is looked at") {
  for (const char* cluster_text :
       {R"({"cluster": {"node": "DGX-H100", "nodes": 9, "fabric": {"kind": "rail_optimized", "switch": "QM9700",
             "nodes_per_group": 3}}})",
        R"({"cluster": {"node": "DGX-A100", "nodes": 3, "fabric": {"kind": "fat_tree", "switch": "QM8700",
             "hosts_per_leaf": 8}}})",
        R"({"cluster": {"nodes": 27, "fabric": {"kind": "torus", "dimensions": [3, 3, 3],
             "link": {"rate": "10GB/s", "latency": "1us"}}}})"}) {
    const Cluster cluster = good(cluster_text);
    const Fabric& fabric = *cluster.fabric;
    const ShortestPathRouter cold(fabric, 7);
    const ShortestPathRouter warm(fabric, 7);
    const std::uint32_t stride = fabric.vertices() / 40 + 1;
    std::uint32_t differing = 0;
    std::uint32_t routes = 0;
    for (std::uint32_t from = 0; from < fabric.vertices(); from += stride) {
      for (std::uint32_t to = 0; to < fabric.vertices(); to += stride) {
        const RouteRequest request{VertexId{from}, VertexId{to}, from + to};
        const ShortestPathRouter fresh(fabric, 7);
        const std::string near = route_text(fresh, request);
        warm.reaches(request.from, request.to);
        differing += near == route_text(warm, request) && near == route_text(cold, request) ? 0 : 1;
        ++routes;
      }
    }
    CHECK(differing == 0);
    CHECK(routes > 400);
  }
}
