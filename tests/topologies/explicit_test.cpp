#include <thread>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/route_laws.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

const Link kNetwork{50_GBps, 50_GBps, 100_ns, LinkKind::network};
const Link kNvlink{300_GBps, 300_GBps, 25_ns, LinkKind::nvlink};
const Link kPcie{25_GBps, 25_GBps, 150_ns, LinkKind::pcie};

std::string code_of(const ExplicitGraph& graph, const RoutingRequest& routing = {}) {
  try {
    explicit_graph(graph, routing);
  } catch (const ScenarioError& error) { return error.problems().front().code; }
  return "";
}

}  // namespace

TEST_CASE("routes of a graph written out are shortest, and equal ones are chosen by flow") {
  ExplicitGraph graph;
  graph.devices = {{"a", VertexKind::host}, {"b", VertexKind::host}, {"s0"}, {"s1"}, {"s2"}};
  graph.cables = {{0, 2, kNetwork}, {0, 3, kNetwork}, {1, 2, kNetwork}, {1, 3, kNetwork}, {0, 4, kNetwork}};
  const Cluster cluster = explicit_graph(graph);
  std::set<std::uint32_t> used;
  for (std::uint64_t flow = 0; flow < 50; ++flow) {
    const auto path = route(cluster, VertexId{0}, VertexId{1}, flow);
    CHECK(broken(*cluster.fabric, VertexId{0}, VertexId{1}, path) == "");
    CHECK(path.size() == 2);
    CHECK(path == route(cluster, VertexId{0}, VertexId{1}, flow));
    used.insert(path[0].value);
  }
  CHECK(used.size() == 2);
}

TEST_CASE("a GPU is passed over NVLink only, a NIC only between its node and the network") {
  ExplicitGraph graph;
  graph.devices = {{"g0", VertexKind::gpu},  {"g1", VertexKind::gpu},  {"g2", VertexKind::gpu},
                   {"nic", VertexKind::nic}, {"sw", VertexKind::leaf}, {"nic2", VertexKind::nic}};
  graph.cables = {{0, 1, kNvlink}, {1, 2, kNvlink}, {0, 3, kPcie}, {3, 4, kNetwork}, {4, 5, kNetwork}, {2, 5, kPcie}};
  const Cluster cluster = explicit_graph(graph);
  CHECK(route(cluster, VertexId{0}, VertexId{2}).size() == 2);
  // g1 has no NIC: it would have to pass g0 from NVLink to PCIe.
  CHECK_THROWS_AS(route(cluster, VertexId{1}, VertexId{4}), SimulationError);
  graph.cables[1] = {1, 2, kPcie};  // now g0 and g2 meet in g1, which lets nothing through, or over the network
  CHECK(code_of(graph) == "");
  graph.cables[4] = {0, 5, kPcie};
  CHECK(code_of(graph) == "unreachable");
}

TEST_CASE("a graph needs endpoints, and each must reach every other") {
  ExplicitGraph graph;
  graph.devices = {{"s"}, {"t"}};
  graph.cables = {{0, 1, kNetwork}};
  CHECK(code_of(graph) == "no-endpoint");
  graph.devices = {{"a", VertexKind::host}, {"b", VertexKind::host}};
  CHECK(code_of(graph) == "");
  graph.cables.clear();
  CHECK(code_of(graph) == "unreachable");
  graph.devices.pop_back();
  CHECK(code_of(graph) == "");
}

TEST_CASE("a graph written out is routed by ecmp only") {
  ExplicitGraph graph;
  graph.devices = {{"a", VertexKind::host}};
  CHECK(code_of(graph, {Routing::d_mod_k, 0}) == "routing");
  CHECK(code_of(graph, {Routing::ecmp, 0}) == "");
}

TEST_CASE("a router answers several threads as it answers one") {
  const Cluster torus_like = [] {
    ExplicitGraph graph;
    for (int i = 0; i < 36; ++i) { graph.devices.push_back({"h" + std::to_string(i), VertexKind::host}); }
    for (std::uint32_t i = 0; i < 36; ++i) {
      graph.cables.push_back({i, i / 6 * 6 + (i + 1) % 6, kNetwork});
      graph.cables.push_back({i, (i + 6) % 36, kNetwork});
    }
    return explicit_graph(graph);
  }();
  const ShortestPathRouter fresh(*torus_like.fabric, 0);
  std::vector<std::size_t> links(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<LinkId> path;
      for (std::uint32_t pair = 0; pair < 36 * 36; ++pair) {
        fresh.route({VertexId{pair / 36}, VertexId{pair % 36}, pair}, path);
      }
      links[t] = path.size();
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  for (const std::size_t count : links) { CHECK(count == links[0]); }
  CHECK(links[0] == 36 * 36 * 3);  // a 6 x 6 torus: 1.5 links a dimension on average
}

TEST_CASE("requests that begin or end at a switch of a generated fabric take a shortest path") {
  const Cluster cluster = fat_tree(nodes(4, nvswitch_node(2, 2)), clos_of_radix(4));
  const Fabric& fabric = *cluster.fabric;
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
    if (fabric.vertex(VertexId{v}).kind != VertexKind::spine) { continue; }
    const auto up = route(cluster, cluster.endpoints[0], VertexId{v});
    const auto down = route(cluster, VertexId{v}, cluster.endpoints[7]);
    CHECK(broken(fabric, cluster.endpoints[0], VertexId{v}, up) == "");
    CHECK(broken(fabric, VertexId{v}, cluster.endpoints[7], down) == "");
  }
}

TEST_CASE(
    "the bisection of a graph written out is the least that parts the first half of its endpoints from the others") {
  // Two racks of `hosts` on leaves; `up` is the rate of a leaf's link to the spine.
  for (const std::int64_t up : {10, 50, 120, 200, 1000}) {
    CAPTURE(up);
    ExplicitGraph graph;
    for (int h = 0; h < 6; ++h) { graph.devices.push_back({"h" + std::to_string(h), VertexKind::host}); }
    graph.devices.insert(graph.devices.end(),
                         {{"l0", VertexKind::leaf}, {"l1", VertexKind::leaf}, {"s", VertexKind::spine}});
    for (std::uint32_t h = 0; h < 6; ++h) { graph.cables.push_back({h, 6 + h / 3, kNetwork}); }
    const Bandwidth rate = Bandwidth{1'000'000'000} * up;
    graph.cables.push_back({6, 8, {rate, rate, 100_ns, LinkKind::network}});
    graph.cables.push_back({7, 8, {rate, rate, 100_ns, LinkKind::network}});
    CHECK(describe(explicit_graph(graph)).bisection->bandwidth == std::min(rate, 50_GBps * 3));
  }
}
