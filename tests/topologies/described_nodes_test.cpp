#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/topologies/route_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

TEST_CASE("links of the other makers' presets add up to what their sources say") {
  const auto link = [](const std::string& node, std::uint32_t from, std::uint32_t to) {
    const Cluster cluster = good(R"({"cluster": {"node": ")" + node + R"("}})");
    return cluster.fabric->link(route(cluster, cluster.endpoints[from], cluster.endpoints[to])[0]).rate;
  };
  CHECK(link("HLS-Gaudi3", 0, 7) == 75_GBps);
  for (const std::string node : {"Frontier-MI250X", "LUMI-G"}) {
    CHECK(link(node, 0, 1) == 200_GBps);
    CHECK(link(node, 0, 6) == 100_GBps);
    CHECK(link(node, 2, 4) == 100_GBps);
    CHECK(link(node, 0, 2) == 50_GBps);
    std::uint32_t between_packages = 0;  // five links of each package lead to others
    const Cluster cluster = good(R"({"cluster": {"node": ")" + node + R"("}})");
    for (std::uint32_t l = 0; l < cluster.fabric->links(); ++l) {
      const Link& each = cluster.fabric->link(LinkId{l});
      const auto package = [&](VertexId v) { return cluster.fabric->vertex(v).index / 2; };
      const bool leaves = package(cluster.fabric->source(LinkId{l})) != package(cluster.fabric->target(LinkId{l}));
      if (each.kind == LinkKind::nvlink && leaves) {
        between_packages += static_cast<std::uint32_t>(each.rate.count() / (50_GBps).count());
      }
    }
    CHECK(between_packages == 4 * 5);
  }
  CHECK(link("TPU-v5p-host", 0, 1) == 100_GBps);
  CHECK(link("TPU-v6e-host", 0, 7) == 100_GBps);
  CHECK(link("HLS-Gaudi2", 0, 7) == Bandwidth{37'500'000'000});
  CHECK(link("AWS-trn2", 0, 3) == 128_GBps);
  CHECK(link("AWS-trn2", 0, 15) == 128_GBps);
  CHECK(link("Atlas-800T-A2", 0, 7) == 28_GBps);
  CHECK(link("CloudMatrix384-node", 0, 7) == 392_GBps);
  CHECK(link("CloudMatrix384", 0, 383) == 392_GBps);
}

TEST_CASE("ports on the die of a card are one link away from it, and take all that they have") {
  const auto least = [](const std::string& node, const std::string& fabric) {
    const Cluster cluster = good(R"({"cluster": {"node": ")" + node + R"(", "nodes": 2, "fabric": )" + fabric + "}}");
    Bandwidth rate = Bandwidth::max();
    const auto path = route(cluster, cluster.endpoints.front(), cluster.endpoints.back());
    for (const LinkId link : path) {
      CHECK(cluster.fabric->vertex(cluster.fabric->target(link)).kind != VertexKind::pcie_switch);
      CHECK(cluster.fabric->vertex(cluster.fabric->target(link)).kind != VertexKind::cpu);
      rate = std::min(rate, cluster.fabric->link(link).rate);
    }
    return rate;
  };
  const std::string star = R"({"kind": "star", "link": {"rate": "800Gb/s", "latency": "1us"}})";
  CHECK(least("HLS-Gaudi3", star) == 75_GBps);
  CHECK(least("HLS-Gaudi2", star) == Bandwidth{37'500'000'000});
  CHECK(least("Frontier-MI250X", star) == 25_GBps);
  CHECK(least("Atlas-800T-A2", star) == 25_GBps);
  CHECK(least("CloudMatrix384-node", star) == 50_GBps);
  CHECK(least("TPU-v5p-chip", R"({"kind": "torus", "dimensions": [2, 1, 1],
                                  "link": {"rate": "100GB/s", "latency": "100ns"}})") == 100_GBps);
}

TEST_CASE("a cube of TPU v5p is 64 chips, each with six links to its neighbours") {
  const Cluster cube = good(R"({"cluster": {"node": "TPU-v5p-chip", "nodes": 64, "fabric":
    {"kind": "torus", "dimensions": [4, 4, 4], "link": {"rate": "100GB/s", "latency": "100ns"}}}})");
  CHECK(cube.endpoints.size() == 64);
  CHECK(broken_routes(cube, 7) == "");
  std::uint32_t between = 0;
  for (std::uint32_t l = 0; l < cube.fabric->links(); ++l) {
    const Fabric& fabric = *cube.fabric;
    const bool leaves = fabric.vertex(fabric.source(LinkId{l})).kind != VertexKind::nic &&
                        fabric.vertex(fabric.target(LinkId{l})).kind != VertexKind::nic;
    between += fabric.link(LinkId{l}).kind == LinkKind::network && leaves ? 1 : 0;
  }
  CHECK(between == 64 * 6);
}

TEST_CASE("chips of a twisted slice of TPU v4 are nearer to each other") {
  const auto links = [](const char* dimensions, std::uint32_t chips, const char* twists) {
    const Cluster slice =
        good(fmt::format(R"({{"cluster": {{"node": "TPU-v4-chip", "nodes": {}, "fabric": {{"kind": "torus",
      "dimensions": {}, {} "link": {{"rate": "50GB/s", "latency": "100ns"}}}}}}}})",
                         chips, dimensions, twists));
    std::uint64_t all = 0;  // links between chips on the ways of all pairs
    std::vector<LinkId> path;
    for (std::uint32_t to = 1; to < chips; ++to) {
      path.clear();
      slice.router->route({.from = slice.endpoints[0], .to = slice.endpoints[to]}, path);
      all += path.size();
    }
    return all;
  };
  CHECK(links("[4, 4, 8]", 128, R"("twists": "tpu_v4",)") < links("[4, 4, 8]", 128, ""));
  CHECK(links("[4, 8, 8]", 256, R"("twists": "tpu_v4",)") < links("[4, 8, 8]", 256, ""));
}

TEST_CASE("GPUs go straight to the NICs of their group where a node has \"nic_link\", and over PCIe elsewhere") {
  const std::string node = R"("gpus": 4, "pcie_link": "pcie4x16", "nic": "CX6-HDR", "nics": 2, "sockets": 1,
    "pcie": [{"socket": 0, "gpus": [0, 1], "nics": [0]}, {"socket": 0, "gpus": [2, 3], "nics": [1]}])";
  const auto path = [&](const std::string& keys, std::uint32_t to) {
    const Cluster cluster = good(R"({"cluster": {"node": {)" + node + keys + R"(}, "nodes": 2,
      "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "1us"}}}})");
    const auto links = route(cluster, cluster.endpoints[0], cluster.endpoints[to]);
    return std::pair(links.size(), cluster.fabric->link(links.front()).rate);
  };
  const std::string straight = R"(, "nic_link": {"rate": "60GB/s"})";
  CHECK(path(straight, 4) == std::pair<std::size_t, Bandwidth>(4, 60_GBps));
  CHECK(path("", 4) == std::pair<std::size_t, Bandwidth>(6, Bandwidth{31'500'000'000}));
  CHECK(path(straight, 1) == path("", 1));  // within the node as before
  CHECK(has(bad(R"({"cluster": {"node": {"gpus": 2, "pcie_link": "pcie4x16", "nic_link": "pcie4x16"}}})"),
            "no group has both"));
  CHECK(has(bad(R"({"cluster": {"node": {"gpus": 2, "pcie_link": "pcie4x16", "nic": "CX6-HDR", "nics": 1,
                                         "nic_link": {"rate": "0GB/s"}}}})"),
            "out-of-range"));
  CHECK(has(bad(R"({"cluster": {"node": {"nic_link": "pcie4x16", "graph": {"vertices": [{"name": "a", "kind": "gpu"}],
                                                                       "links": []}}}})"),
            "leave out \"nic_link\""));
}

TEST_CASE("NICs of a card follow each other, and are in one PCIe group") {
  const auto cards = [](const std::string& node) {
    return good(R"({"cluster": {"node": )" + node + "}}").identity->cards;
  };
  CHECK(cards("\"DGX-H100\"").empty());
  const auto of_oci = cards("\"OCI-BM.GPU.H100.8\"");
  REQUIRE(of_oci.size() == 16);
  for (std::uint32_t nic = 0; nic < 16; ++nic) { CHECK(of_oci[nic] == nic / 2 * 2); }
  CHECK(cards(R"({"gpus": 1, "pcie_link": "pcie4x16", "nic": {"preset": "CX6-HDR", "card_ports": 2}, "nics": 3})") ==
        std::vector<std::uint32_t>{0, 0, 2});
  CHECK(cards(R"({"gpus": 1, "pcie_link": "pcie4x16", "nics": [{"nic": "CX6-HDR", "count": 1},
                  {"nic": "CX7-200GbE", "count": 2}]})") == std::vector<std::uint32_t>{0, 1, 1});
  CHECK(has(bad(R"({"cluster": {"node": {"gpus": 2, "pcie_link": "pcie4x16", "nics": 2,
    "nic": {"preset": "CX6-HDR", "card_ports": 2}, "sockets": 1, "pcie": [
      {"socket": 0, "gpus": [0], "nics": [0]}, {"socket": 0, "gpus": [1], "nics": [1]}]}}})"),
            "NICs 0 and 1 are ports of one card"));
  CHECK(has(bad(R"({"cluster": {"node": {"gpus": 1, "pcie_link": "pcie4x16", "nics": 2,
                                         "nic": {"preset": "CX6-HDR", "card_ports": 0}}}})"),
            "out-of-range"));
}
