#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/topologies/fabrics.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"
#include "topologies/routing/dependency_cycle.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

/// A node with eight fast NICs and two others.
const std::string kNode = R"({"preset": "DGX-H100",
  "nics": [{"nic": "CX7-NDR", "count": 8}, {"nic": "CX6-200GbE", "count": 2}],
  "pcie": [{"socket": 0, "gpus": [0, 1, 2, 3], "nics": [0, 1, 2, 3, 8]},
           {"socket": 1, "gpus": [4, 5, 6, 7], "nics": [4, 5, 6, 7, 9]}]})";

struct Side {
  std::string name;
  std::string fabric;  ///< without braces
};

std::string several(const std::string& members, const std::vector<Side>& sides, const std::string& more = "") {
  std::string fabrics;
  for (const Side& side : sides) {
    fabrics += fmt::format("{}\"{}\": {{{}}}", fabrics.empty() ? "" : ",\n", side.name, side.fabric);
  }
  return fmt::format("{{\"cluster\": {{{}, \"fabrics\": {{{}}}}}{}}}", members, fabrics, more);
}

std::string alone(const std::string& members, const Side& side) {
  return fmt::format("{{\"cluster\": {{{}, \"fabric\": {{{}}}}}}}", members, side.fabric);
}

std::string use(const std::string& name) { return fmt::format(", \"fabric\": \"{}\"", name); }

/// Kind, index, node, rate and latency of everything on the way: what does not depend on numbers or on names.
std::string traits(const Cluster& cluster, const std::vector<LinkId>& path) {
  std::string text;
  for (const LinkId l : path) {
    const Link& link = cluster.fabric->link(l);
    const Vertex& to = cluster.fabric->vertex(cluster.fabric->target(l));
    text += fmt::format("{}{} of {} at {} B/s, {} B/s, {} ps; ", name(to.kind), to.index, to.node, link.rate.count(),
                        link.usable.count(), link.latency.count());
  }
  return text;
}

/// The law of networks side by side: on each of them all is as if it were alone.
void check_as_alone(const std::string& members, const std::vector<Side>& sides) {
  for (const Side& side : sides) {
    CAPTURE(side.name);
    const Cluster among = good(several(members, sides, use(side.name)));
    const Cluster single = good(alone(members, side));
    REQUIRE(among.endpoints.size() == single.endpoints.size());
    for (std::size_t from = 0; from < among.endpoints.size(); ++from) {
      for (std::size_t to = 0; to < among.endpoints.size(); ++to) {
        const std::uint64_t flow = from * 7 + to;
        REQUIRE(traits(among, route(among, among.endpoints[from], among.endpoints[to], flow)) ==
                traits(single, route(single, single.endpoints[from], single.endpoints[to], flow)));
      }
    }
    const ClusterDescription a = describe(among);
    const ClusterDescription b = describe(single);
    CHECK(a.diameter.links == b.diameter.links);
    CHECK(a.injection == b.injection);
    REQUIRE(a.bisection.has_value() == b.bisection.has_value());
    CHECK(a.bisection->bandwidth == b.bisection->bandwidth);
    CHECK(dependency_cycle(among).links.size() == dependency_cycle(single).links.size());
    const auto cuts = natural_cuts(among);
    REQUIRE(cuts.size() == natural_cuts(single).size());
    for (std::size_t c = 0; c < cuts.size(); ++c) { CHECK(cuts[c].out == natural_cuts(single)[c].out); }
  }
}

const Side kBackEnd{"back_end", R"("kind": "rail_optimized", "switch": "QM9700", "nodes_per_group": 4, "radix": 16,
                    "nics": [0, 1, 2, 3, 4, 5, 6, 7])"};
const Side kStorage{"storage", R"("kind": "fat_tree", "switch": "SN5400", "hosts_per_leaf": 2, "nics": [9, 8])"};
const std::string kNodes = fmt::format("\"node\": {}, \"nodes\": 8", kNode);

}  // namespace

TEST_CASE("networks of a node's NICs, side by side, are each as if alone") {
  check_as_alone(kNodes, {kBackEnd, kStorage});
  check_as_alone(
      kNodes,
      {{"a", R"("kind": "dual_plane", "switch": "QM9700", "nics": [0, 2, 4, 6])"},
       {"b", R"("kind": "rail_only", "switch": "QM9700", "nics": [1, 3, 5])"},
       {"c", R"("kind": "star", "switch": "QM9700", "nics": [7])"},
       {"d",
        R"("kind": "torus", "dimensions": [2, 4], "link": {"rate": "200Gb/s", "latency": "1us"}, "nics": [8, 9])"}});
}

TEST_CASE("networks of bare hosts, side by side, are each as if alone") {
  const std::string link = R"("link": {"rate": "100Gb/s", "latency": "1us"})";
  check_as_alone(R"("nodes": 12)", {{"a", R"("kind": "star", )" + link},
                                    {"b", R"("kind": "mesh", "dimensions": [3, 4], )" + link},
                                    {"c", R"("kind": "dual_plane", "hosts_per_leaf": 4, )" + link},
                                    {"d", R"("kind": "k_ary_n_tree", "arity": 4, "levels": 2, )" + link}});
}

TEST_CASE("networks of nodes of several kinds, side by side, are each as if alone") {
  const std::string two = fmt::format(R"("nodes": [{{"node": {}, "count": 3}},
      {{"node": {{"preset": "DGX-B200", "nics": 9, "pcie": [{{"socket": 0, "gpus": [0, 1, 2, 3, 4, 5, 6, 7],
        "nics": [0, 1, 2, 3, 4, 5, 6, 7, 8]}}]}}, "count": 2}}])",
                                      kNode);
  check_as_alone(two, {{"fast", R"("kind": "fat_tree", "switch": "QM9700", "nics": [0, 1, 2, 3, 4, 5, 6, 7])"},
                       {"slow", R"("kind": "star", "switch": "SN5400", "nics": [8])"}});
}

TEST_CASE("devices of several networks are told apart by name, and ranks use the faster one") {
  const Cluster cluster = good(several(kNodes, {kStorage, kBackEnd}));
  REQUIRE(cluster.networks.size() == 2);
  CHECK(cluster.networks[0].name == "back_end");
  CHECK(cluster.networks[0].used);
  CHECK(cluster.networks[1].nics == std::vector<std::uint32_t>{9, 8});
  std::vector<std::string> leaves;
  for (std::uint32_t v = 0; v < cluster.fabric->vertices(); ++v) {
    if (cluster.fabric->vertex(VertexId{v}).kind == VertexKind::leaf) {
      leaves.push_back(cluster.fabric->name(VertexId{v}));
    }
  }
  CHECK(std::count(leaves.begin(), leaves.end(), "back_end/leaf0") == 1);
  CHECK(std::count(leaves.begin(), leaves.end(), "storage/leaf0") == 1);
  CHECK(cluster.tiers.front().name == "back_end leaf");
}

TEST_CASE("what is down on one network is not gone round by another, and does not touch the other") {
  const std::string down = R"(, "overrides": [{"between": ["node3/nic*", "storage/leaf*"], "down": true}])";
  const std::string text = several(kNodes + down, {kBackEnd, kStorage});
  const Cluster unhurt = good(text);
  CHECK(unhurt.fabric->links_down() == 4);
  const std::string storage = several(kNodes + down, {kBackEnd, kStorage}, use("storage"));
  CHECK(has(bad(storage), "8 of 64 endpoints are cut off"));
}

TEST_CASE("what cannot be meant by several fabrics is refused by name") {
  const auto with = [](const std::string& back, const std::string& front, const std::string& more = "") {
    return bad(several(kNodes,
                       {{"back_end", R"("kind": "star", "switch": "QM9700")" + back},
                        {"front_end", R"("kind": "star", "switch": "SN5400")" + front}},
                       more));
  };
  CHECK(has(with(R"(, "nics": [0, 1])", R"(, "nics": [1, 8])"), "NIC 1 is on back_end and on front_end"));
  CHECK(has(with(R"(, "nics": [0, 1])", ""), "which NICs are on front_end?"));
  CHECK(has(with(R"(, "nics": [0])", R"(, "nics": [10])"), "there is no NIC 10: DGX-H100 has 10, counted from 0"));
  CHECK(has(with(R"(, "nics": [0, 0])", R"(, "nics": [8])"), "NIC 0 stands twice"));
  CHECK(has(with(R"(, "nics": [])", R"(, "nics": [8])"), "at least 1"));
  CHECK(has(with(R"(, "nics": [0, 8])", R"(, "nics": [9])"), "the NICs 0 and 8 of DGX-H100 are of different models"));
  CHECK(has(with(R"(, "nics": [0])", R"(, "nics": [1])"), "which of the fabrics back_end, front_end do ranks use?"));
  CHECK(has(with(R"(, "nics": [0])", R"(, "nics": [8])", use("frontend")), "did you mean \"front_end\"?"));
  CHECK(has(bad(alone(kNodes, {"", R"("kind": "star", "switch": "QM9700")"})), "of different models"));
  CHECK(has(bad(several(R"("nodes": 4)", {{"a", R"("kind": "star", "switch": "QM9700", "nics": [0])"}})),
            "hosts without an inside have no NICs"));
  CHECK(
      has(bad(several(R"("nodes": 4)", {{"a/b", R"("kind": "star", "switch": "QM9700")"}})), "is no name of a fabric"));
  CHECK(has(bad(R"({"cluster": {"nodes": 4, "fabrics": {}}})"), "one to 255 fabrics"));
  CHECK(has(bad(R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", "switch": "QM9700"},
                    "fabrics": {"a": {"kind": "star", "switch": "QM9700"}}}})"),
            "\"fabrics\" name all of them"));
  const std::string ring = R"("kind": "torus", "dimensions": [2, 2], "link": {"rate": "200Gb/s", "latency": "1us"})";
  CHECK(has(bad(several(R"("nodes": 4)", {{"a", ring}, {"b", ring}})), "hosts are the positions of both a and b"));
  CHECK(has(bad(several(R"("nodes": 40)", {{"a", R"("kind": "star", "switch": "QM9700")"},
                                           {"b", R"("kind": "star", "switch": "SB7800")"}})),
            "b: "));
}

TEST_CASE("a NIC on no fabric is warned of") {
  const Cluster cluster = good(alone(kNodes, {"", R"("kind": "star", "switch": "QM9700", "nics": [0, 1])"}));
  REQUIRE(cluster.warnings.size() == 1);
  CHECK(cluster.warnings[0] == "of DGX-H100 NIC 2, 3, 4, 5, 6, 7, 8, 9 are on no fabric");
}

TEST_CASE("a single fabric has no name to ask for") {
  CHECK(has(bad(R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", "switch": "QM9700"}}, "fabric": "a"})"),
            "the cluster has one without a name"));
  CHECK(has(bad(R"({"cluster": {"node": "DGX-H100"}, "fabric": "a"})"), "the cluster has none by name"));
}
