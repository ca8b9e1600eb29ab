#include "topologies/formats/description.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/json_text.hpp"
#include "tests/topologies/route_laws.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

std::optional<Cut> cut_called(const Cluster& cluster, const std::string& name) {
  for (const Cut& cut : natural_cuts(cluster)) {
    if (cut.name == name) { return cut; }
  }
  return std::nullopt;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) { ++found; }
  return found;
}

}  // namespace

TEST_CASE("the bisection of a full fat tree is half of its hosts' links, divided by the oversubscription") {
  for (const std::uint32_t k : {4U, 8U, 12U}) {
    for (const std::uint32_t tiers : {2U, 3U}) {
      ClosSpec spec = clos_of_radix(k);
      spec.tiers = tiers;
      const std::uint32_t n = tiers == 2 ? k * k / 2 : k * k * k / 4;
      const ClusterDescription described = describe(fat_tree(hosts(n), spec));
      CHECK(described.bisection->bandwidth == 50_GBps * (n / 2));
      CHECK(described.bisection->endpoints == n / 2);
      CHECK(described.diameter.links == 2 * tiers);
      CHECK_FALSE(described.diameter.sampled);
      CHECK(described.injection == 50_GBps);
      CHECK(described.warnings.empty());
    }
  }
  ClosSpec spec = clos_of_radix(64);
  spec.hosts_per_leaf = 12;
  spec.tiers = 2;
  spec.leaf_oversubscription = Ratio{3, 1};
  CHECK(describe(fat_tree(hosts(48), spec)).bisection->bandwidth == 50_GBps * 8);
}

TEST_CASE(
    "the bisection of a torus is twice the positions over its longest dimension, half of that for a length of two") {
  CHECK(describe(torus(hosts(64), {4, 4, 4})).bisection->bandwidth == 50_GBps * 32);
  CHECK(describe(torus(hosts(32), {4, 8})).bisection->bandwidth == 50_GBps * 8);
  CHECK(describe(torus(hosts(8), {2, 2, 2})).bisection->bandwidth == 50_GBps * 4);
  CHECK(describe(torus(hosts(5), {5})).bisection->bandwidth == 50_GBps * 2);
}

TEST_CASE("a description warns of routes that may wait for each other in a circle") {
  const ClusterDescription ring = describe(torus(hosts(5), {5}));
  REQUIRE(ring.warnings.size() == 1);
  CHECK(ring.warnings[0].find("deadlock-prone under PFC or credits") == 0);
  CHECK(describe(on(hosts(4), R"("kind": "mesh", "dimensions": [4])")).warnings.empty());
}

TEST_CASE("the diameter of a torus is the sum of half its dimensions, of GPUs in nodes two PCIe trees more") {
  CHECK(describe(torus(hosts(60), {3, 4, 5})).diameter.links == 1 + 2 + 2);
  const Cluster of_nodes = torus(nodes(16, nvswitch_node(4, 4)), {4, 4}, {}, cable(100));
  CHECK(describe(of_nodes).diameter.links == 2 * (2 + 1) + 4);
}

TEST_CASE("cuts: an endpoint, a node, a leaf, a pod and a half each carry what their boundary has") {
  const Cluster cluster = fat_tree(nodes(32, nvswitch_node(8, 8)), clos_of_radix(16));
  const auto gpu = cut_called(cluster, "node0/gpu0");
  REQUIRE(gpu);
  CHECK(gpu->out == 450_GBps + 52_GBps);
  CHECK(gpu->inside == 1);
  const auto node = cut_called(cluster, "node 0");
  REQUIRE(node);
  CHECK(node->out == 50_GBps * 8);
  CHECK(node->links_out.size() == 8);
  CHECK(node->inside == 8);
  // One node of 8 NICs fills a leaf: its cut has the shape of the node's, and is not named twice.
  CHECK_FALSE(cut_called(cluster, "leaf 0"));
  const auto pod = cut_called(cluster, "pod 0");
  REQUIRE(pod);
  CHECK(pod->inside == 64);
  CHECK(pod->out == 50_GBps * 64);
  const auto half = cut_called(cluster, "half of the pods");
  REQUIRE(half);
  CHECK(half->inside == 128);
  CHECK(half->out == 50_GBps * 128);
  CHECK(half->in == half->out);
}

TEST_CASE("a partly filled leaf is a shape of its own, and a warning") {
  ClosSpec spec = clos_of_radix(8);
  const Cluster cluster = fat_tree(hosts(10), spec);
  const auto full = cut_called(cluster, "leaf 0");
  const auto last = cut_called(cluster, "leaf 2");
  REQUIRE(full);
  REQUIRE(last);
  CHECK(full->inside == 4);
  CHECK(last->inside == 2);
  REQUIRE(cluster.warnings.size() == 1);
  CHECK(cluster.warnings[0] == "the last leaf has 2 of 4 links down in use");
}

TEST_CASE("leaves that are all filled in part are told as such, with the key that changes it") {
  const ClosSpec spec = clos_of_radix(8);
  const Cluster rails = rail_optimized(nodes(3, nvswitch_node(4, 4)), spec);
  REQUIRE(rails.warnings.size() == 1);
  CHECK(rails.warnings[0] ==
        "each of 4 leaves has 3 of 4 links down in use; \"nodes_per_group\": 3 may need fewer switches and cables");
  const Cluster groups = rail_optimized(nodes(6, nvswitch_node(4, 4)), spec);
  REQUIRE(groups.warnings.size() == 1);
  CHECK(groups.warnings[0] == "4 of 8 leaves have 2 of 4 links down in use");
}

TEST_CASE("a leaf's cut holds only nodes that are whole within it") {
  ClosSpec spec = clos_of_radix(64);
  spec.hosts_per_leaf = 12;
  const Cluster cluster = fat_tree(nodes(6, nvswitch_node(8, 8)), spec);
  const auto leaf = cut_called(cluster, "leaf 0");
  REQUIRE(leaf);
  CHECK(leaf->inside == 8);
  // up-links of the leaf, and the links to the four NICs of the node that is only half here
  CHECK(leaf->out == 50_GBps * (12 + 4));
  CHECK(cluster.warnings.size() == 1);
}

TEST_CASE("a group of rails is cut with all its leaves, and halves follow groups") {
  ClosSpec spec = clos_of_radix(64);
  spec.hosts_per_leaf = 4;
  const Cluster cluster = rail_optimized(nodes(16, nvswitch_node(8, 8)), spec);
  const auto group = cut_called(cluster, "group 0");
  REQUIRE(group);
  CHECK(group->inside == 32);
  CHECK(group->out == 50_GBps * 32);
  CHECK(describe(cluster).bisection->bandwidth == 50_GBps * 64);
}

TEST_CASE("the half of a node is what hangs on half of its sockets") {
  const ClusterDescription described = describe(single_node(nvswitch_node(8, 8)));
  CHECK(described.bisection->bandwidth == 450_GBps * 4 + 22_GBps);
  CHECK(described.bisection->endpoints == 4);
  const ClusterDescription mesh = describe(single_node(cube_mesh_node()));
  CHECK(mesh.bisection->bandwidth == 25_GBps * 6 + 22_GBps);
}

TEST_CASE("a single endpoint has no cut, no bisection and a diameter of zero") {
  const Cluster cluster = star(hosts(1), cable());
  CHECK(natural_cuts(cluster).empty());
  const ClusterDescription described = describe(cluster);
  CHECK_FALSE(described.bisection.has_value());
  CHECK(described.diameter.links == 0);
}

TEST_CASE("the text and the JSON of a description hold its counts") {
  const Cluster cluster = fat_tree(hosts(10), clos_of_radix(8));
  const ClusterDescription described = describe(cluster);
  const nlohmann::json json = tree_of(to_json(described));
  CHECK(json["endpoints"] == 10);
  CHECK(json["vertices"]["host"] == 10);
  CHECK(json["vertices"]["leaf"] == 3);
  CHECK(json["links"]["network"] == cluster.fabric->links());
  CHECK(json["diameter_links"] == 4);
  CHECK(json["tiers"][0]["oversubscription"] == 1.0);
  CHECK(json["tiers"][1]["oversubscription"].is_null());
  const std::string text = to_text(described);
  CHECK(text.find("10 (1 per node") != std::string::npos);
  CHECK(text.find("the last leaf has 2 of 4") != std::string::npos);
  CHECK(text.find("50 GB/s out of one endpoint") != std::string::npos);
}

TEST_CASE("DOT has every device once, every cable once, and a box for each node") {
  const Cluster cluster = star(nodes(3, nvswitch_node(2, 2)), cable());
  const std::string dot = to_dot(cluster);
  CHECK(occurrences(dot, "[label=\"node") + occurrences(dot, "[label=\"leaf") == cluster.fabric->vertices());
  CHECK(occurrences(dot, "->") == cluster.fabric->links() / 2);
  CHECK(occurrences(dot, "subgraph cluster_") == 3);
  CHECK(occurrences(dot, "{") == occurrences(dot, "}"));
}

TEST_CASE("the fabric for other programs has every device, link and route, as the router goes") {
  for (const auto& cluster : {fat_tree(hosts(10), clos_of_radix(8)), torus(hosts(9), {3, 3})}) {
    const nlohmann::json json = tree_of(fabric_to_json(cluster));
    const Fabric& fabric = *cluster.fabric;
    CHECK(json["vertices"].size() == fabric.vertices());
    CHECK(json["vertices"][0] == nlohmann::ordered_json{{"name", "host0"}, {"kind", "host"}});
    REQUIRE(json["links"].size() == fabric.links());
    for (std::uint32_t l = 0; l < fabric.links(); ++l) {
      CHECK(json["links"][l]["from"] == fabric.source(LinkId{l}).value);
      CHECK(json["links"][l]["to"] == fabric.target(LinkId{l}).value);
      CHECK(json["links"][l]["rate_bytes_per_s"] == fabric.link(LinkId{l}).rate.count());
      CHECK(json["links"][l]["latency_ps"] == fabric.link(LinkId{l}).latency.count());
    }
    const std::size_t n = cluster.endpoints.size();
    CHECK(json["routes"].size() == n * (n - 1));
    for (const auto& each : json["routes"]) {
      std::vector<LinkId> path;
      for (const auto& link : each["links"]) { path.emplace_back(link.get<std::uint32_t>()); }
      CHECK(path == route(cluster, VertexId{each["from"]}, VertexId{each["to"]}, 0));
      CHECK_FALSE(each["by_flow"].get<bool>());
    }
  }
}

TEST_CASE("routes that depend on the flow are said to, and there are none beyond 256 endpoints") {
  const nlohmann::json json = tree_of(fabric_to_json(fat_tree(hosts(8), clos_of_radix(8), {Routing::ecmp, 1})));
  for (const auto& each : json["routes"]) { CHECK(each["by_flow"].get<bool>() == (each["links"].size() > 2)); }
  CHECK(fabric_to_json(star(hosts(256), cable()))["routes"].size() == 256 * 255);
  CHECK(fabric_to_json(star(hosts(257), cable()))["routes"].is_null());
}
