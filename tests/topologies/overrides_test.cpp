#include <cstdlib>
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

/// Four leaves of four hosts (host 4l + i on leaf l), two spines, two parallel cables from each leaf to each spine.
std::string tree(const std::string& overrides, const std::string& routing = "ecmp") {
  return R"({"cluster": {"nodes": 16, "fabric": {"kind": "fat_tree", "leaves": 4, "spines": 2, "oversubscription": 1,
    "link": {"rate": "10GB/s", "latency": "1us", "efficiency": 0.8}},
    "overrides": [)" +
         overrides + R"(]}, "routing": ")" + routing + "\"}";
}

/// The same with one cable from each leaf to each of four spines.
std::string thin_tree(const std::string& overrides, const std::string& routing = "ecmp") {
  std::string text = tree(overrides, routing);
  return text.replace(text.find("\"spines\": 2"), 11, "\"spines\": 4");
}

std::set<std::string> names(const Cluster& cluster, const std::vector<LinkId>& path) {
  std::set<std::string> found;
  for (const LinkId link : path) { found.insert(cluster.fabric->name(link)); }
  return found;
}

/// Links whose figures are not those of the tree.
std::set<std::string> changed(const Cluster& cluster) {
  std::set<std::string> found;
  for (LinkId l{0}; l.value < cluster.fabric->links(); ++l.value) {
    const Link& link = cluster.fabric->link(l);
    if (link.rate != 10_GBps || link.latency != 1_us || link.down) { found.insert(cluster.fabric->name(l)); }
  }
  return found;
}

std::string broken_on_what_is_up(const Cluster& cluster) {
  for (const VertexId from : cluster.endpoints) {
    for (const VertexId to : cluster.endpoints) {
      for (std::uint64_t flow = 0; flow < 8; ++flow) {
        const auto path = route(cluster, from, to, flow);
        const std::string wrong = broken(*cluster.fabric, from, to, path);
        if (!wrong.empty()) { return wrong; }
        for (const LinkId link : path) {
          if (cluster.fabric->link(link).down) { return "crosses " + cluster.fabric->name(link); }
        }
      }
    }
  }
  return "";
}

}  // namespace

TEST_CASE("an override changes the cables between two devices, both ways, and nothing else") {
  const Cluster cluster = good(tree(R"({"between": ["leaf0", "spine1"], "rate": "5GB/s", "latency": "3us"})"));
  CHECK(changed(cluster) == std::set<std::string>{"leaf0 -> spine1", "spine1 -> leaf0"});
  std::uint32_t cables = 0;
  for (LinkId l{0}; l.value < cluster.fabric->links(); ++l.value) {
    const Link& link = cluster.fabric->link(l);
    if (link.rate != 5_GBps) { continue; }
    ++cables;
    CHECK(link.usable == 4_GBps);
    CHECK(link.latency == 3_us);
  }
  CHECK(cables == 4);
  CHECK_FALSE(cluster.alike_from_every_node);
}

TEST_CASE("an override of one direction leaves the other as it is, and cuts tell them apart") {
  const Cluster cluster = good(tree(R"({"from": "host3", "to": "leaf0", "rate": "1GB/s"})"));
  CHECK(changed(cluster) == std::set<std::string>{"host3 -> leaf0"});
  bool seen = false;
  for (const Cut& cut : natural_cuts(cluster)) {
    if (cut.name != "host3") { continue; }
    seen = true;
    CHECK(cut.out == 1_GBps);
    CHECK(cut.in == 10_GBps);
  }
  CHECK(seen);
}

TEST_CASE("stars stand for any characters and question marks for one, later overrides win") {
  CHECK(changed(good(tree(R"({"from": "leaf?", "to": "spine*", "latency": "2us"})"))).size() == 8);
  CHECK(changed(good(tree(R"({"from": "host1*", "to": "*", "latency": "2us"})"))).size() == 7);
  CHECK(changed(good(tree(R"({"from": "h*t1?", "to": "*", "latency": "2us"})"))).size() == 6);
  const Cluster twice = good(tree(R"({"from": "leaf0", "to": "spine0", "rate": "2GB/s"},
                                     {"from": "leaf0", "to": "*", "rate": "3GB/s", "usable": "3GB/s"})"));
  for (const LinkId link : route(twice, VertexId{0}, VertexId{15})) {
    if (twice.fabric->name(twice.fabric->source(link)) == "leaf0") { CHECK(twice.fabric->link(link).usable == 3_GBps); }
  }
}

TEST_CASE("of parallel cables only as many as are said are changed") {
  const Cluster cluster = good(tree(R"({"between": ["leaf0", "spine1"], "cables": 1, "rate": "5GB/s"})"));
  std::uint32_t links = 0;
  for (LinkId l{0}; l.value < cluster.fabric->links(); ++l.value) {
    links += cluster.fabric->link(l).rate == 5_GBps ? 1 : 0;
  }
  CHECK(links == 2);
}

TEST_CASE("ecmp goes round what is down, keeps the ways of other flows, and spreads evenly over those left") {
  const Cluster whole = good(thin_tree(""));
  const Cluster cluster = good(thin_tree(R"({"between": ["leaf0", "spine1"], "down": true})"));
  CHECK(cluster.fabric->links_down() == 2);
  CHECK(broken_on_what_is_up(cluster) == "");
  CHECK(broken_routes(cluster) == "");
  std::map<std::string, int> used;
  for (std::uint64_t flow = 0; flow < 3000; ++flow) {
    const auto before = route(whole, VertexId{0}, VertexId{15}, flow);
    const auto now = route(cluster, VertexId{0}, VertexId{15}, flow);
    ++used[cluster.fabric->name(now[1])];
    if (names(whole, before).count("leaf0 -> spine1") == 0) { CHECK(now == before); }
  }
  CHECK(used.size() == 3);
  for (const auto& [link, flows] : used) { CHECK(std::abs(flows - 1000) < 120); }
}

TEST_CASE("two leaves without a spine in common are joined by way of a third") {
  const Cluster cluster = good(thin_tree(R"({"between": ["leaf0", "spine0"], "down": true},
    {"between": ["leaf0", "spine1"], "down": true}, {"between": ["leaf1", "spine2"], "down": true},
    {"between": ["leaf1", "spine3"], "down": true})"));
  CHECK(broken_on_what_is_up(cluster) == "");
  CHECK(route(cluster, VertexId{0}, VertexId{4}).size() == 6);
  CHECK(route(cluster, VertexId{0}, VertexId{8}).size() == 4);
  CHECK(broken_routes(cluster) == "");
}

TEST_CASE("what is cut off is refused by name, also where only one direction is gone") {
  const std::string alone = bad(tree(R"({"between": ["host3", "leaf0"], "down": true})"));
  CHECK(has(alone, "cut-off@3: 1 of 16 endpoints is cut off by links that are down: host3; "));
  const std::string one_way = bad(tree(R"({"from": "leaf2", "to": "spine*", "down": true})"));
  CHECK(has(one_way, "4 of 16 endpoints are cut off by links that are down: host8, host9, host10, host11; "));
  const std::string all = bad(tree(R"({"between": ["leaf?", "spine?"], "down": true})"));
  CHECK(has(all, "4 of 16 endpoints are cut off"));
}

TEST_CASE("tables of d-mod-k go round what is down: the destinations that lose a way are dealt out to all others") {
  for (const char* down : {R"({"between": ["leaf0", "spine1"], "cables": 1, "down": true})",
                           R"({"between": ["leaf0", "spine1"], "down": true})"}) {
    const Cluster cluster = good(tree(down, "d_mod_k"));
    CHECK(broken_on_what_is_up(cluster) == "");
    CHECK(broken_routes(cluster) == "");
  }
  // 32 leaves of 12 hosts under 4 spines: every spine takes 3 destinations of each leaf, and without spine 1 every
  // other one 4.
  const std::string large = R"({"cluster": {"nodes": 384, "fabric": {"kind": "fat_tree", "leaves": 32, "spines": 4,
    "hosts_per_leaf": 12, "oversubscription": 3, "link": {"rate": "10GB/s", "latency": "1us"}}, "overrides": [)";
  const Cluster whole = good(large + R"(]}, "routing": "d_mod_k"})");
  const Cluster cluster = good(large + R"({"between": ["leaf0", "spine1"], "down": true}]}, "routing": "d_mod_k"})");
  std::map<std::string, int> used;
  for (std::uint32_t to = 12; to < 384; ++to) {
    const auto before = route(whole, VertexId{0}, VertexId{to}, 0);
    const auto now = route(cluster, VertexId{0}, VertexId{to}, 0);
    ++used[cluster.fabric->name(now[1])];
    if (names(whole, before).count("leaf0 -> spine1") == 0) { CHECK(now == before); }
  }
  CHECK(used.size() == 3);
  for (const auto& [link, destinations] : used) { CHECK(destinations == 31 * 4); }
}

TEST_CASE("a torus has lost the ways over a link that is down, by name") {
  const std::string lost = bad(R"({"cluster": {"fabric": {"kind": "torus", "dimensions": [4],
    "link": {"rate": "1GB/s", "latency": "1us"}}, "overrides": [{"from": "host1", "to": "host2", "down": true}]}})");
  CHECK(has(lost, "2 pairs of endpoints lose their way: host0 to host2, host1 to host2"));
  CHECK(has(lost, "dimension_order has no other"));
}

TEST_CASE("a NIC whose cable is down is replaced by the next, and a GPU without NVLink goes over PCIe") {
  const auto nodes = [](const std::string& overrides) {
    return good(R"({"cluster": {"node": "DGX-H100", "nodes": 2, "fabric": {"kind": "rail_optimized",
      "switch": "QM9700", "nodes_per_group": 2, "spines": 2}, "overrides": [)" +
                overrides + "]}}");
  };
  const Cluster nic = nodes(R"({"between": ["node0/nic3", "leaf3"], "down": true})");
  CHECK(broken_on_what_is_up(nic) == "");
  CHECK(names(nic, route(nic, nic.endpoints[3], nic.endpoints[11])).count("node0/nic4 -> leaf4") == 1);
  CHECK(names(nic, route(nic, nic.endpoints[2], nic.endpoints[10])).count("node0/nic2 -> leaf2") == 1);
  const Cluster nvlink = nodes(R"({"between": ["node0/gpu1", "node0/nvswitch0"], "down": true})");
  CHECK(broken_on_what_is_up(nvlink) == "");
  for (const LinkId link : route(nvlink, nvlink.endpoints[1], nvlink.endpoints[2])) {
    CHECK(nvlink.fabric->link(link).kind != LinkKind::nvlink);
  }
  CHECK(route(nvlink, nvlink.endpoints[0], nvlink.endpoints[2]).size() == 2);
}

TEST_CASE("minimal and valiant ways go round too, by a further router where the direct cable of a group is down") {
  for (const std::string routing : {"minimal", "valiant"}) {
    CAPTURE(routing);
    const Cluster cluster = good(R"({"cluster": {"fabric": {"kind": "dragonfly", "groups": 3, "routers_per_group": 4,
      "hosts_per_router": 2, "global_cables": 2, "link": {"rate": "1GB/s", "latency": "1us"}},
      "overrides": [{"between": ["router0", "router1"], "down": true}]}, "routing": ")" +
                                 routing + "\"}");
    CHECK(broken_on_what_is_up(cluster) == "");
    if (routing == "minimal") { CHECK(route(cluster, VertexId{0}, VertexId{2}).size() == 4); }
  }
}

TEST_CASE("a node whose links are changed has a cut of its own") {
  const Cluster cluster = good(R"({"cluster": {"node": "DGX-H100", "nodes": 4, "fabric": {"kind": "star",
    "switch": "QM9700"}, "overrides": [{"between": ["node2/nic5", "leaf0"], "rate": "100Gb/s"}]}})");
  Bandwidth least = Bandwidth::max();
  for (const Cut& cut : natural_cuts(cluster)) {
    if (cut.name == "node 2") { least = cut.out; }
    if (cut.name == "node 0") { CHECK(cut.out == 3200_Gbps); }
  }
  CHECK(least == 2900_Gbps);
}

TEST_CASE("a graph written out is routed round what is down") {
  const std::string ring = R"({"cluster": {"graph": {
    "vertices": [{"name": "a", "kind": "host"}, {"name": "b", "kind": "host"}, {"name": "x"}, {"name": "y"}],
    "links": [{"between": ["a", "x"], "rate": "1GB/s"}, {"between": ["x", "b"], "rate": "1GB/s"},
              {"between": ["a", "y"], "rate": "1GB/s"}, {"between": ["y", "b"], "rate": "1GB/s"}]}, "overrides": [)";
  const Cluster cluster = good(ring + R"({"between": ["a", "x"], "down": true}]}})");
  CHECK(broken_on_what_is_up(cluster) == "");
  CHECK(has(bad(ring + R"({"between": ["a", "*"], "down": true}]}})"), "1 of 2 endpoints is cut off"));
}

TEST_CASE("an override that matches nothing is an error that says what there is") {
  CHECK(has(bad(tree(R"({"between": ["leef0", "spine1"], "down": true})")),
            "no-such-link@3: no device is called \"leef0\"; did you mean \"leaf0\"?"));
  CHECK(
      has(bad(tree(R"({"between": ["leaf0", "leaf1"], "down": true})")),
          "no link leads from \"leaf0\" to \"leaf1\"; leaf0 is linked to host0, host1, host2, host3, spine0, spine1"));
}

TEST_CASE("overrides that do not say what to change, or contradict themselves, are refused") {
  CHECK(has(bad(tree(R"({"between": ["leaf0", "spine1"]})")), "an override changes nothing"));
  CHECK(has(bad(tree(R"({"between": ["leaf0"], "down": true})")), "a link is between two devices"));
  CHECK(has(bad(tree(R"({"from": "leaf0", "down": true})")), "from where to where"));
  CHECK(has(bad(tree(R"({"between": ["leaf0", "spine1"], "from": "leaf0", "to": "spine1", "down": true})")),
            "either both ends"));
  CHECK(has(bad(tree(R"({"between": ["leaf0", "spine1"], "rate": "1GB/s", "down": true})")), "neither rate nor"));
  CHECK(has(bad(tree(R"({"between": ["leaf0", "spine1"], "usable": "11GB/s"})")), "above the line rate of leaf0"));
  CHECK(has(bad(R"({"cluster": {"shared_memory": {"ranks": 2, "processors": 1},
    "overrides": [{"between": ["a", "b"], "down": true}]}})"),
            "stands alone"));
}

TEST_CASE("a description tells of overrides, of what is down, and measures what is left") {
  const Cluster cluster = good(thin_tree(R"({"between": ["leaf0", "spine1"], "down": true})"));
  const ClusterDescription found = describe(cluster);
  CHECK(has(found.summary, ", 2 links overridden"));
  REQUIRE(found.bisection);
  CHECK(found.bisection->bandwidth == 70_GBps);
  REQUIRE(found.warnings.size() == 1);
  CHECK(found.warnings[0] == "2 links down, counted in one direction: leaf0 -> spine1, spine1 -> leaf0");
  CHECK(has(to_dot(cluster), "style=dotted"));
  const Cluster parallel = good(tree(R"({"from": "leaf0", "to": "spine1", "down": true})"));
  CHECK(parallel.warnings.at(0) == "2 links down, counted in one direction: leaf0 -> spine1 (2 in parallel)");
}
