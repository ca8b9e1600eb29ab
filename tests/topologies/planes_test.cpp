#include <map>
#include <set>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/route_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

ClosSpec cables() {
  ClosSpec spec;
  spec.host_cable = spec.up_cable = spec.core_cable = cable();
  return spec;
}

/// The kinds of the devices on a way, with both ends: "gpu nvswitch gpu pcie_switch nic leaf nic ...".
std::string way(const Cluster& cluster, std::uint32_t from, std::uint32_t to) {
  const VertexId start = cluster.endpoints[from];
  std::string text(name(cluster.fabric->vertex(start).kind));
  for (const LinkId link : route(cluster, start, cluster.endpoints[to])) {
    text += " " + std::string(name(cluster.fabric->vertex(cluster.fabric->target(link)).kind));
  }
  return text;
}

/// Numbers of the NICs on a way.
std::vector<std::uint32_t> nics(const Cluster& cluster, std::uint32_t from, std::uint32_t to, std::uint64_t flow = 0) {
  std::vector<std::uint32_t> found;
  for (const LinkId link : route(cluster, cluster.endpoints[from], cluster.endpoints[to], flow)) {
    const Vertex& device = cluster.fabric->vertex(cluster.fabric->target(link));
    if (device.kind == VertexKind::nic) { found.push_back(device.index); }
  }
  return found;
}

std::string all_broken(const Cluster& cluster) {
  for (const VertexId from : cluster.endpoints) {
    for (const VertexId to : cluster.endpoints) {
      const std::string wrong = broken(*cluster.fabric, from, to, route(cluster, from, to));
      if (!wrong.empty()) { return wrong; }
    }
  }
  return "";
}

}  // namespace

TEST_CASE("rail-only has one switch for each rail and a cable for each NIC, and rails meet inside nodes only") {
  for (const std::uint32_t members : {1U, 2U, 5U, 16U}) {
    CAPTURE(members);
    const Cluster cluster = rail_only(nodes(members, nvswitch_node(4, 4)), cables());
    CHECK(count(*cluster.fabric, VertexKind::leaf) == 4);
    CHECK(count(*cluster.fabric, VertexKind::spine) == 0);
    CHECK(count(*cluster.fabric, LinkKind::network) == 2 * 4 * members);
    CHECK(all_broken(cluster) == "");
    for (std::uint32_t from = 0; from < 4 * members; ++from) {
      for (std::uint32_t to = 0; to < 4 * members; ++to) {
        if (from / 4 == to / 4) { continue; }
        CHECK(nics(cluster, from, to) == std::vector<std::uint32_t>{to % 4, to % 4});
      }
    }
  }
}

TEST_CASE("data for another rail goes over NVLink to the GPU on that rail, and with pxn off over PCIe") {
  const Population two = nodes(2, nvswitch_node(4, 4));
  const std::string across = "gpu nvswitch gpu pcie_switch nic leaf nic pcie_switch gpu";
  CHECK(way(rail_only(two, cables()), 0, 4 + 3) == across);
  CHECK(way(rail_only(two, cables()), 3, 4 + 3) == "gpu pcie_switch nic leaf nic pcie_switch gpu");
  CHECK(way(rail_only(two, cables(), {{}, 0, false}), 0, 4 + 3) ==
        "gpu pcie_switch cpu cpu pcie_switch nic leaf nic pcie_switch gpu");
  // The GPU in between is the one that has the NIC as its own.
  const Cluster cluster = rail_only(two, cables());
  const auto path = route(cluster, cluster.endpoints[0], cluster.endpoints[7]);
  CHECK(cluster.fabric->name(cluster.fabric->target(path[1])) == "node0/gpu3");
}

TEST_CASE("on a rail-optimized tree traffic of a group stays below its leaves unless pxn is off") {
  ClosSpec spec = cables();
  spec.hosts_per_leaf = 4;
  spec.spines = 4;
  const Population eight = nodes(8, nvswitch_node(4, 4));
  const Cluster plain = rail_optimized(eight, spec, {{}, 0, false});
  const Cluster pxn = rail_optimized(eight, spec);
  CHECK(way(plain, 0, 4 + 3) == "gpu pcie_switch nic leaf spine leaf nic pcie_switch gpu");
  CHECK(way(pxn, 0, 4 + 3) == "gpu nvswitch gpu pcie_switch nic leaf nic pcie_switch gpu");
  CHECK(way(rail_optimized(eight, spec, {{}, 0, true}), 0, 4 + 3) == way(pxn, 0, 4 + 3));
  CHECK(way(pxn, 0, 16) == way(plain, 0, 16));
  CHECK(way(pxn, 0, 3) == way(plain, 0, 3));
  CHECK(all_broken(pxn) == "");
}

TEST_CASE("GPUs that share a NIC take turns as the ones in between") {
  NodeSpec node = nvswitch_node(4, 2);
  node.pcie = {{0, true, {0, 1}, {0}}, {1, true, {2, 3}, {1}}};
  const Cluster cluster = rail_only(nodes(2, node), cables());
  std::set<std::string> between;
  for (const std::uint32_t from : {0U, 1U}) {
    const auto path = route(cluster, cluster.endpoints[from], cluster.endpoints[6]);
    between.insert(cluster.fabric->name(cluster.fabric->target(path[1])));
  }
  CHECK(between == std::set<std::string>{"node0/gpu2", "node0/gpu3"});
  CHECK(all_broken(cluster) == "");
}

TEST_CASE("without NVLink rails are changed over PCIe, and asking for pxn is refused") {
  NodeSpec node = nvswitch_node(4, 4);
  node.scale_up = std::monostate();
  const Cluster cluster = rail_only(nodes(2, node), cables());
  CHECK(way(cluster, 0, 4 + 1) == "gpu pcie_switch cpu pcie_switch nic leaf nic pcie_switch gpu");
  CHECK_THROWS_AS(rail_only(nodes(2, node), cables(), {{}, 0, true}), ScenarioError);
  const std::string link = R"("link": {"rate": "1GB/s", "latency": "1us"})";
  CHECK(
      has(bad(R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", )" + link + R"(}}, "pxn": true})"), "no NVLink"));
  CHECK(has(bad(R"({"cluster": {"nodes": 4, "fabric": {"kind": "rail_only", )" + link + "}}}"), "have no rails"));
}

TEST_CASE("more nodes than a switch has ports make a tree of every rail") {
  ClosSpec spec = cables();
  spec.radix = 8;
  const Cluster cluster = rail_only(nodes(16, nvswitch_node(4, 4)), spec);
  CHECK(count(*cluster.fabric, VertexKind::leaf) == 4 * 4);
  CHECK(count(*cluster.fabric, VertexKind::spine) == 4 * 2);
  CHECK(count(*cluster.fabric, LinkKind::network) == 4 * 2 * (16 + 4 * 4));
  CHECK(all_broken(cluster) == "");
  REQUIRE(cluster.tiers.size() == 2);
  CHECK(cluster.tiers[0].switches == 16);
  // Every rail carries half of its 16 NICs across.
  const ClusterDescription found = describe(cluster);
  REQUIRE(found.bisection);
  CHECK(found.bisection->bandwidth == cable().rate * (4 * 8));
  CHECK(found.bisection->endpoints == 32);
}

TEST_CASE("planes are disjoint, every NIC has a port of its share of the rate to each, and flows are spread evenly") {
  const Cluster cluster = good(R"({"cluster": {"node": "DGX-H100", "nodes": 8, "fabric": {"kind": "dual_plane",
    "switch": "QM9700", "nodes_per_group": 4, "spines": 2}}, "routing": "ecmp"})");
  const Fabric& fabric = *cluster.fabric;
  const std::uint32_t leaves = count(fabric, VertexKind::leaf);
  CHECK(leaves == 2 * 2 * 8);
  CHECK(count(fabric, VertexKind::spine) == 2 * 2);
  CHECK(broken_routes(cluster, 16) == "");
  std::map<std::uint32_t, int> planes;
  for (std::uint64_t flow = 0; flow < 1000; ++flow) {
    std::set<std::uint32_t> seen;
    for (const LinkId link : route(cluster, cluster.endpoints[0], cluster.endpoints[41], flow)) {
      const Vertex& device = fabric.vertex(fabric.target(link));
      if (device.kind == VertexKind::leaf) { seen.insert(device.index / (leaves / 2)); }
      if (device.kind == VertexKind::spine) { seen.insert(device.index / 2); }
      if (device.kind == VertexKind::leaf && fabric.vertex(fabric.source(link)).kind == VertexKind::nic) {
        CHECK(fabric.link(link).rate == 200_Gbps);
      }
    }
    REQUIRE(seen.size() == 1);
    ++planes[*seen.begin()];
  }
  CHECK(planes.size() == 2);
  CHECK(std::abs(planes[0] - planes[1]) < 130);
}

TEST_CASE("both ports of a NIC share its PCIe link") {
  ClosSpec spec = cables();
  spec.hosts_per_leaf = 2;
  spec.spines = 2;
  const Cluster cluster = dual_plane(nodes(2, nvswitch_node(2, 2)), spec, 2, true);
  std::set<LinkId> first;
  std::set<LinkId> cable;
  for (std::uint64_t flow = 0; flow < 64; ++flow) {
    const auto path = route(cluster, cluster.endpoints[0], cluster.endpoints[2], flow);
    first.insert(path[1]);
    cable.insert(path[2]);
  }
  CHECK(first.size() == 1);
  CHECK(cable.size() == 2);
}

TEST_CASE("a pod as Alibaba's HPN builds it: 15 segments of 1,024 GPUs, 16 switches each, 60 above in every plane") {
  const Cluster cluster = good(R"({"cluster": {"node": "DGX-H100", "nodes": 1920, "fabric": {"kind": "dual_plane",
    "nodes_per_group": 128, "spines": 60, "link": {"rate": "200Gb/s", "latency": "500ns"},
    "uplink": {"rate": "400Gb/s", "latency": "500ns"}}}})");
  CHECK(cluster.endpoints.size() == 15'360);
  CHECK(count(*cluster.fabric, VertexKind::leaf) == 15 * 16);
  CHECK(count(*cluster.fabric, VertexKind::spine) == 2 * 60);
  REQUIRE(cluster.tiers.size() == 2);
  CHECK(cluster.tiers[0].oversubscription == Ratio{128 * 200, 60 * 400});
  CHECK(broken_routes(cluster, 6) == "");
}

TEST_CASE("a port that is down leaves its NIC the other plane, under every routing") {
  for (const std::string routing : {"d_mod_k", "ecmp"}) {
    CAPTURE(routing);
    const Cluster cluster = good(R"({"cluster": {"nodes": 4, "fabric": {"kind": "dual_plane",
      "link": {"rate": "1GB/s", "latency": "1us"}}, "overrides": [{"between": ["host1", "leaf0"], "down": true}]},
      "routing": ")" + routing + "\"}");
    for (std::uint64_t flow = 0; flow < 32; ++flow) {
      const auto path = route(cluster, VertexId{1}, VertexId{3}, flow);
      CHECK(cluster.fabric->name(path[0]) == "host1 -> leaf1");
    }
    CHECK(broken_routes(cluster) == "");
  }
}

TEST_CASE("hosts without an inside have planes not by rail, and words for the other kind are refused") {
  const std::string link = R"("link": {"rate": "1GB/s", "latency": "1us"})";
  const Cluster cluster = good(R"({"cluster": {"nodes": 12, "fabric": {"kind": "dual_plane", "planes": 3,
    "hosts_per_leaf": 4, "spines": 2, )" +
                               link + "}}}");
  CHECK(count(*cluster.fabric, VertexKind::leaf) == 3 * 3);
  CHECK(count(*cluster.fabric, VertexKind::spine) == 3 * 2);
  CHECK(broken_routes(cluster) == "");
  CHECK(has(bad(R"({"cluster": {"nodes": 12, "fabric": {"kind": "dual_plane", "nodes_per_group": 4, )" + link + "}}}"),
            "have \"hosts_per_leaf\", not \"nodes_per_group\""));
}

TEST_CASE("a request that names NICs gets them, and goes over the GPU that it names") {
  ClosSpec spec = cables();
  spec.hosts_per_leaf = 4;
  spec.spines = 4;
  const Cluster cluster = rail_optimized(nodes(2, nvswitch_node(4, 4)), spec);
  const auto by = [&](const NicChoice& nics) {
    std::vector<LinkId> path;
    cluster.router->route({cluster.endpoints[0], cluster.endpoints[5], 0, 0, 0, nics}, path);
    std::string text;
    for (const LinkId link : path) { text += " " + cluster.fabric->name(cluster.fabric->target(link)); }
    return text;
  };
  CHECK(has(by({2, 3}), " node0/nic2 "));
  CHECK(has(by({2, 3}), " node1/nic3 "));
  CHECK_FALSE(has(by({2, 3}), "node0/gpu"));
  CHECK(has(by({2, 3, 1}), " node0/gpu1 "));
  CHECK(by({NicChoice::kAny, 1}) == by({}));
  CHECK(by({99, 99}) == by({}));
}

TEST_CASE("channels take the NICs in turn that a GPU has to itself, and no others") {
  NodeSpec node = nvswitch_node(2, 6);
  node.pcie = {{0, true, {0}, {0, 1, 2}}, {1, true, {1}, {3, 4, 5}}};
  const Cluster cluster = star(nodes(2, node), cables().host_cable);
  CHECK(cluster.nics_per_endpoint == 3);
  for (std::uint32_t channel = 0; channel < 7; ++channel) {
    std::vector<LinkId> path;
    cluster.router->route({cluster.endpoints[0], cluster.endpoints[3], 0, 0, channel, {}}, path);
    std::set<std::string> passed;
    for (const LinkId link : path) { passed.insert(cluster.fabric->name(cluster.fabric->target(link))); }
    CHECK(passed.count("node0/nic" + std::to_string(channel % 3)) == 1);
    CHECK(passed.count("node1/nic" + std::to_string(3 + channel % 3)) == 1);
  }
}

TEST_CASE("a GPU whose nearest NIC is beside the other socket sends over NVLink and a GPU that is beside it") {
  NodeSpec node = nvswitch_node(4, 2);
  node.pcie = {{0, true, {0}, {0}}, {0, true, {1}, {1}}, {1, true, {2}, {}}, {1, true, {3}, {}}};
  const Cluster cluster = star(nodes(2, node), cables().host_cable);
  CHECK(way(cluster, 2, 4) == "gpu nvswitch gpu pcie_switch nic leaf nic pcie_switch gpu");
  CHECK(way(cluster, 0, 4) == "gpu pcie_switch nic leaf nic pcie_switch gpu");
  CHECK(way(star(nodes(2, node), cables().host_cable, {}, {{}, 0, false}), 2, 4) ==
        "gpu pcie_switch cpu cpu pcie_switch nic leaf nic pcie_switch gpu");
}
