#include <set>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/json_text.hpp"
#include "tests/topologies/route_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

TEST_CASE("every figure of every preset has a source or is marked as unverified") {
  const auto check = [](const auto& all, const std::vector<std::string>& figures) {
    for (const auto& [name, preset] : all) {
      CAPTURE(name);
      for (const std::string& figure : figures) {
        CAPTURE(figure);
        const auto& unverified = preset.provenance.unverified;
        const bool marked = std::find(unverified.begin(), unverified.end(), figure) != unverified.end();
        CHECK((preset.provenance.from.count(figure) == 1) != marked);
      }
    }
  };
  check(presets().links, {"rate", "usable", "latency"});
  check(presets().gpus, {"memory", "memory_bandwidth", "tflops", "pcie"});
  check(presets().nics, {"rate", "latency", "pcie"});
  check(presets().switches, {"rate", "radix", "latency"});
  std::map<std::string, NodePreset> of_gpus = presets().nodes;
  std::map<std::string, NodePreset> of_cpus = presets().nodes;
  std::erase_if(of_gpus, [](const auto& each) { return each.second.node.processes.has_value(); });
  std::erase_if(of_cpus, [](const auto& each) { return !each.second.node.processes; });
  check(of_gpus, {"gpu", "gpus", "scale_up", "sockets", "pcie_link", "pcie", "nic", "nics"});
  check(of_cpus, {"processes", "sockets", "memory_link", "core_link", "pcie_link", "pcie", "nic", "nics"});
}

TEST_CASE("every node preset is a node in which all GPUs reach each other and a NIC") {
  CHECK(presets().nodes.size() >= 9);
  for (const auto& [name, preset] : presets().nodes) {
    CAPTURE(name);
    if (preset.node.processes) { continue; }  // processes_test.cpp
    const Cluster one = good(R"({"cluster": {"node": ")" + name + R"("}})");
    CHECK(one.endpoints.size() == *preset.node.gpus);
    CHECK(broken_routes(one) == "");
    if (preset.node.gpu_direct) { continue; }  // goes by host memory, so not the shortest way: host_memory_test.cpp
    const Cluster two = good(R"({"cluster": {"node": ")" + name + R"(", "nodes": 2, "fabric": {"kind": "star", )" +
                             R"("link": {"rate": "100Gb/s", "latency": "1us"}}}})");
    CHECK(two.endpoints.size() == 2 * *preset.node.gpus);
    CHECK(broken_routes(two, 16) == "");
  }
}

TEST_CASE("NVLink of the presets adds up to what a GPU has") {
  const auto nvlink = [](const std::string& node) {
    const Cluster cluster = good(R"({"cluster": {"node": ")" + node + R"("}})");
    const auto path = route(cluster, cluster.endpoints[0], cluster.endpoints[1]);
    return cluster.fabric->link(path[0]);
  };
  CHECK(nvlink("DGX-A100").rate == 300_GBps);
  CHECK(nvlink("DGX-A100").usable == Bandwidth{266'400'000'000});
  CHECK(nvlink("DGX-H100").rate == 450_GBps);
  CHECK(nvlink("DGX-H100").usable == Bandwidth{399'600'000'000});
  CHECK(nvlink("DGX-B200").rate == 900_GBps);
  CHECK(nvlink("HGX-H800").rate == 200_GBps);
  CHECK(nvlink("HGX-A800").rate == 200_GBps);
  CHECK(nvlink("DGX-1V").rate == 50_GBps);
  CHECK(nvlink("PCIe-8xL40S").kind == LinkKind::pcie);
}

TEST_CASE("on DGX nodes GPU i leaves by NIC i") {
  for (const std::string node : {"DGX-A100", "DGX-H100", "GB200-NVL72"}) {
    Problems problems;
    NodeConfig config;
    config.preset = node;
    const auto spec = make_node(config, presets(), problems);
    REQUIRE(spec);
    const NodeTemplate built(*spec);
    for (std::uint32_t gpu = 0; gpu < spec->gpus; ++gpu) { CHECK(built.nearest_nic(gpu) == gpu); }
  }
}

TEST_CASE("a switch preset gives rate, latency and headers; the NIC may be slower") {
  const Cluster cluster =
      good(R"({"cluster": {"node": "DGX-A100", "nodes": 2, "fabric": {"kind": "star", "switch": "QM9700"}}})");
  Bandwidth rate;
  for (std::uint32_t l = 0; l < cluster.fabric->links(); ++l) {
    const Link& link = cluster.fabric->link(LinkId{l});
    if (link.kind != LinkKind::network) { continue; }
    CHECK(link.rate == 200_Gbps);
    CHECK(link.usable == Bandwidth{25'000'000'000 * std::int64_t{4096} / 4122});
    const bool from_leaf = cluster.fabric->vertex(cluster.fabric->source(LinkId{l})).kind == VertexKind::leaf;
    CHECK(link.latency == (from_leaf ? 280_ns : 350_ns));
  }
}

TEST_CASE("a link that is written out counts as it is written") {
  const Cluster cluster = good(R"({"cluster": {"nodes": 64, "fabric": {"kind": "fat_tree", "leaves": 8,
    "link": {"rate": "12.5GB/s", "latency": "500ns", "efficiency": 0.9}}}})");
  CHECK(cluster.endpoints.size() == 64);
  Time latency;
  for (const LinkId link : route(cluster, VertexId{0}, VertexId{63})) {
    latency += cluster.fabric->link(link).latency;
    CHECK(cluster.fabric->link(link).rate == 12.5_GBps);
    CHECK(cluster.fabric->link(link).usable == 11.25_GBps);
  }
  CHECK(latency == 2_us);
}

TEST_CASE("a preset may be changed in part") {
  const Cluster cluster = good(R"({"cluster": {"node": {"preset": "DGX-H100", "gpu": "A100-SXM-80GB",
    "scale_up": {"kind": "nvswitch", "links_per_gpu": 4}}}})");
  CHECK(cluster.fabric->link(route(cluster, VertexId{0}, VertexId{1})[0]).rate == 100_GBps);
}

TEST_CASE("a node may be written in full, with links of its own") {
  const Cluster cluster = good(R"({"cluster": {"node": {"gpus": 4, "sockets": 2,
    "pcie_link": {"rate": "16GB/s", "usable": "12GB/s", "latency": "200ns"}, "socket_link": "upi-skylake",
    "scale_up": {"kind": "nvlink_mesh", "link": "nvlink2", "counts": [[0,1,0,0],[1,0,0,0],[0,0,0,1],[0,0,1,0]]},
    "pcie": [{"socket": 0, "gpus": [0, 1]}, {"socket": 1, "gpus": [2, 3], "switch": false}]}}})");
  CHECK(route(cluster, VertexId{0}, VertexId{1}).size() == 1);
  CHECK(route(cluster, VertexId{0}, VertexId{3}).size() == 4);
  CHECK(cluster.fabric->link(route(cluster, VertexId{0}, VertexId{3})[0]).usable == 12_GBps);
}

TEST_CASE("PCIe switches may stand below PCIe switches") {
  const Cluster cluster = good(R"({"cluster": {"node": {"gpus": 4, "nics": 2, "nic": "CX7-NDR", "sockets": 2,
    "pcie_link": "pcie5x16", "socket_link": "upi-skylake", "pcie": [
      {"socket": 1, "groups": [{"gpus": [0, 1], "nics": [0]}, {"gpus": [2, 3], "groups": [{"nics": [1]}]}]}]}}})");
  CHECK(count(*cluster.fabric, VertexKind::pcie_switch) == 4);
  CHECK(route(cluster, VertexId{0}, VertexId{2}).size() == 4);
  CHECK(has(bad(R"({"cluster": {"node": {"gpus": 1, "pcie_link": "pcie5x16", "pcie": [
    {"socket": 0, "groups": [{"socket": 1, "gpus": [0]}]}]}}})"),
            "socket"));
}

TEST_CASE("racks of 72 GPUs on NVSwitches are nodes of a fabric") {
  const Cluster cluster = good(R"({"cluster": {"node": "GB200-NVL72", "nodes": 4, "fabric": {"kind": "rail_only",
    "switch": "QM9700"}}})");
  CHECK(cluster.endpoints.size() == 288);
  CHECK(count(*cluster.fabric, VertexKind::leaf) == 72);
  // 72 GPUs of 18 NVLinks of 50 GB/s, both directions: the 130 TB/s of the rack.
  Bandwidth nvlink;
  for (std::uint32_t l = 0; l < cluster.fabric->links(); ++l) {
    if (cluster.fabric->link(LinkId{l}).kind == LinkKind::nvlink) { nvlink += cluster.fabric->link(LinkId{l}).rate; }
  }
  CHECK(nvlink == 129'600_GBps * 4);
  const auto path = route(cluster, cluster.endpoints[0], cluster.endpoints[72 + 5]);
  CHECK(cluster.fabric->name(cluster.fabric->target(path[1])) == "node0/gpu5");
}

TEST_CASE("the fabric may imply the number of nodes") {
  const std::string link = R"("link": {"rate": "100GB/s", "latency": "1us"})";
  CHECK(good(R"({"cluster": {"fabric": {"kind": "torus", "dimensions": [4, 4, 2], )" + link + "}}}").endpoints.size() ==
        32);
  CHECK(good(R"({"cluster": {"node": "DGX-H100", "fabric": {"kind": "fat_tree", "leaves": 4, "hosts_per_leaf": 16, )" +
             link + "}}}")
            .endpoints.size() == 64);
  CHECK(good(R"({"cluster": {"node": "DGX-H100", "fabric": {"kind": "rail_optimized", "leaves": 16,
    "nodes_per_group": 4, "spines": 4, )" +
             link + "}}}")
            .endpoints.size() == 64);
}

TEST_CASE("1,024 GPUs fit a fat tree, an oversubscribed one, a rail-optimized one and a torus") {
  for (const std::string fabric :
       {R"({"kind": "fat_tree", "switch": "QM9700"})",
        R"({"kind": "fat_tree", "switch": "QM9700", "oversubscription": 3})",
        R"({"kind": "fat_tree", "switch": "QM9700", "tiers": 3, "oversubscription": [1, 1.5]})",
        R"({"kind": "rail_optimized", "switch": "QM9700"})",
        R"({"kind": "torus", "dimensions": [8, 4, 4], "link": {"rate": "400Gb/s", "latency": "500ns"}})"}) {
    CAPTURE(fabric);
    const Cluster cluster = good(R"({"cluster": {"node": "DGX-H100", "nodes": 128, "fabric": )" + fabric + "}}");
    CHECK(cluster.endpoints.size() == 1024);
    CHECK(broken_routes(cluster, 12) == "");
  }
}

TEST_CASE("a graph is read with its links both ways") {
  const Cluster cluster = good(R"({"cluster": {"graph": {
    "vertices": [{"name": "a", "kind": "gpu"}, {"name": "b", "kind": "gpu"}, {"name": "sw"}],
    "links": [{"between": ["a", "sw"], "rate": "50GB/s", "latency": "500ns"},
              {"between": ["b", "sw"], "rate": "50GB/s", "usable": "40GB/s"}]}}})");
  CHECK(cluster.endpoints.size() == 2);
  CHECK(cluster.fabric->links() == 4);
  CHECK(cluster.fabric->name(route(cluster, VertexId{0}, VertexId{1})[1]) == "sw -> b");
}

TEST_CASE("unknown presets are all reported in one pass, with the nearest names and their lines") {
  const std::string found = bad(R"({"cluster": {
    "node": {"preset": "DGX-H100",
      "gpu": "H100-SXM-80G",
      "nic": "CX7-NDE",
      "pcie_link": "pcie5x8"},
    "nodes": 2, "fabric": {"kind": "star",
      "switch": "QM9701"}}})");
  CHECK(has(found, "unknown-preset@3: there is no GPU preset \"H100-SXM-80G\"; did you mean \"H100-SXM-80GB\"?"));
  CHECK(has(found, "unknown-preset@4: there is no NIC preset \"CX7-NDE\"; did you mean \"CX7-NDR\"?"));
  CHECK(has(found, "unknown-preset@5: there is no link preset \"pcie5x8\""));
  CHECK(has(found, "unknown-preset@7: there is no switch preset \"QM9701\"; did you mean \"QM9700\"?"));
  CHECK(has(bad(R"({"cluster": {"node": "DGX-H10"}})"), "unknown-preset@1: there is no node preset \"DGX-H10\""));
}

TEST_CASE("a node count that does not fit the fabric is refused at the fabric") {
  const std::string star = R"({"cluster": {"node": "DGX-H100", "nodes": 9,
    "fabric": {"kind": "star", "switch": "QM9700"}}})";
  CHECK(has(bad(star), "does-not-fit@2: 72 hosts or NICs do not fit one switch of radix 64; use at most 64"));
  const std::string torus = R"({"cluster": {"nodes": 9,
    "fabric": {"kind": "torus", "dimensions": [2, 4], "link": {"rate": "1GB/s", "latency": "1us"}}}})";
  CHECK(has(bad(torus), "does-not-fit@2: a torus of 2 x 4 has 8 positions, not 9"));
  CHECK(has(bad(R"({"cluster": {"node": "DGX-H100", "nodes": 2}})"), "2 nodes need a \"fabric\""));
  CHECK(has(bad(R"({"cluster": {"fabric": {"kind": "star", "switch": "QM9700"}}})"), "needs \"nodes\""));
}

TEST_CASE("zero and missing bandwidths are refused") {
  const auto star = [](const std::string& link) {
    return R"({"cluster": {"nodes": 2, "fabric": {"kind": "star", "link": )" + link + "}}}";
  };
  CHECK(has(bad(star(R"({"rate": "0GB/s", "latency": "1us"})")), "out-of-range@1"));
  CHECK(has(bad(star(R"({"latency": "1us"})")), "missing-key@1"));
  CHECK(has(bad(star(R"({"rate": "1GB/s", "latency": "1us", "efficiency": 0})")), "leaves no bandwidth"));
  CHECK(has(bad(R"({"cluster": {"nodes": 2, "fabric": {"kind": "star"}}})"), "either \"switch\" or \"link\""));
  CHECK(has(bad(R"({"cluster": {"node": {"gpus": 1, "pcie_link": {"rate": "1GB/s", "usable": "2GB/s"}}}})"),
            "above the line rate"));
}

TEST_CASE("endpoints that cannot reach each other are reported by name") {
  const std::string graph = bad(R"({"cluster": {"graph": {
    "vertices": [{"name": "a", "kind": "gpu"}, {"name": "b", "kind": "gpu"}]}}})");
  CHECK(has(graph, "unreachable@1: b cannot reach a"));
  const std::string node = bad(R"({"cluster": {"node": {"gpus": 2, "sockets": 2, "pcie_link": "pcie4x16",
    "pcie": [{"socket": 0, "gpus": [0]}, {"socket": 1, "gpus": [1]}]}}})");
  CHECK(has(node, "unreachable@1: GPU 0 of the node cannot reach GPU 1"));
}

TEST_CASE("links to what is not there, and names used twice, are reported together") {
  const std::string found = bad(R"({"cluster": {"graph": {
    "vertices": [{"name": "left", "kind": "host"},
                 {"name": "left", "kind": "host"}],
    "links": [
      {"between": ["left", "lefft"], "rate": "1GB/s"},
      {"between": ["left", "left"], "rate": "1GB/s"}]}}})");
  CHECK(has(found, "duplicate-name@3"));
  CHECK(has(found, "unknown-vertex@5: a link names \"lefft\", which is no vertex; did you mean \"left\"?"));
  CHECK(has(found, "link-ends@6"));
}

TEST_CASE("two billion GPUs are refused with the memory that they would need") {
  const std::string found = bad(R"({"cluster": {"node": "DGX-H100",
    "nodes": 250000000, "fabric": {"kind": "fat_tree", "switch": "QM9700"}}})");
  CHECK(has(found, "too-large@2"));
  CHECK(has(found, "GiB of memory"));
  CHECK(has(bad(R"({"cluster": {"fabric": {"kind": "torus", "dimensions": [60000, 60000],
    "link": {"rate": "1GB/s", "latency": "1us"}}}})"),
            "too-large"));
}

TEST_CASE("a routing that the fabric cannot do is refused where it is asked for") {
  const std::string found = bad(R"({"cluster": {"nodes": 2, "fabric": {"kind": "star", "switch": "QM9700"}},
    "routing": "dimension_order"})");
  CHECK(has(found, "routing@2: this fabric cannot be routed by dimension_order; use d_mod_k or ecmp"));
  CHECK(has(bad(R"({"cluster": {"node": "DGX-H100"}, "routing": "dimension_order"})"), "routing@1"));
}

TEST_CASE("keys that do not go together, and keys that are no keys, are refused") {
  CHECK(has(bad(R"({"cluster": {}})"), "needs a \"node\", a \"fabric\" or a \"graph\""));
  CHECK(has(bad(R"({"cluster": {"node": "DGX-H100", "graph": {"vertices": [{"name": "a", "kind": "gpu"}]}}})"),
            "stands alone"));
  CHECK(has(bad(R"({"cluster": {"node": "DGX-H100", "fabrik": {}}})"), "fabric"));
  CHECK(has(bad(R"({"cluster": {"nodes": 2, "fabric": {"kind": "fattree", "switch": "QM9700"}}})"), "fat_tree"));
}

TEST_CASE("the schema of a cluster describes what the reader accepts") {
  const nlohmann::json schema = tree_of(describe_schema("cluster", [](Fields& fields) {
    ClusterConfig cluster;
    visit(fields, cluster);
  }));
  CHECK(schema["properties"].contains("node"));
  CHECK(schema["properties"].contains("fabric"));
  CHECK(schema["properties"].contains("graph"));
}

TEST_CASE("a node says what its CPUs and GPUs call themselves, and may say it otherwise") {
  const auto identity = [](const std::string& node) {
    return *good(R"({"cluster": {"node": )" + node + "}}").identity;
  };
  const NodeIdentity h100 = identity(R"("DGX-H100")");
  CHECK(h100.compute_capability == 90U);
  CHECK(h100.cpu == CpuIdentity{"x86_64", "GenuineIntel", 6, 143});
  CHECK(h100.gpu_direct);
  CHECK(identity(R"({"preset": "DGX-H100", "compute_capability": 10.3})").compute_capability == 103U);
  CHECK_FALSE(identity(R"({"preset": "DGX-H100", "gpu_direct": false})").gpu_direct);
  CHECK_FALSE(identity(R"({"gpu": "RTX-2080-Ti", "gpus": 2})").peer_access);
  CHECK(identity(R"({"gpu": "RTX-2080-Ti", "gpus": 2, "peer_access": true})").peer_access);
  CHECK(identity(R"({"gpu": "MI300X", "gpus": 2})").architecture == "gfx942");
  CHECK(identity(R"({"preset": "DGX-H100", "cpu": {"arch": "arm64"}})").cpu == CpuIdentity{"arm64", "", 0, 0});
  CHECK(identity(R"({"preset": "DGX-H100", "gpu": "A100-SXM-80GB"})").compute_capability == 80U);
  CHECK(identity(R"({"gpus": 2, "pcie_link": "pcie4x16"})") == NodeIdentity{});
}

TEST_CASE("presets of GPUs from NVIDIA have a compute capability, those from AMD an architecture, all others neither") {
  const std::set<std::string> of_others{"Ascend-910B", "Ascend-910C", "Gaudi-2", "Gaudi-3", "Trainium2",
                                        "TPU-v4",      "TPU-v5e",     "TPU-v5p", "TPU-v6e"};
  for (const auto& [name, gpu] : presets().gpus) {
    CAPTURE(name);
    const int said = (gpu.compute_capability ? 1 : 0) + (gpu.architecture.empty() ? 0 : 1);
    CHECK(said == (of_others.contains(name) ? 0 : 1));
    const std::string vendor = gpu_vendor(identity_of(gpu));
    CHECK(vendor == (gpu.compute_capability ? "NVIDIA" : gpu.architecture.empty() ? gpu.vendor : "AMD"));
    CHECK(!vendor.empty());
  }
}

TEST_CASE("identities that cannot be are refused") {
  const auto node = [](const std::string& keys) {
    return bad(R"({"cluster": {"node": {"gpus": 2, "pcie_link": "pcie4x16", )" + keys + "}}}");
  };
  CHECK(has(node(R"("compute_capability": 9.05)"), "a whole number of tenths"));
  CHECK(has(node(R"("compute_capability": 0.5)"), "out-of-range"));
  CHECK(has(bad(R"({"cluster": {"node": {"gpu": "Gaudi-3", "gpus": 2, "compute_capability": 9.0}}})"),
            "is of GPUs from NVIDIA, and Gaudi-3 is from Intel"));
  CHECK(has(bad(R"({"cluster": {"node": {"gpu": "MI300X", "gpus": 2, "compute_capability": 9.0}}})"),
            "and MI300X is from AMD"));
  CHECK(has(bad(R"({"cluster": {"node": {"gpu": {"preset": "H100-SXM-80GB", "architecture": "gfx942"}, "gpus": 2}}})"),
            "is of GPUs from NVIDIA, and \"architecture\" of GPUs from AMD"));
  CHECK(has(node(R"("cpu": {"vendor": "GenuineIntel"})"), "arch"));
  CHECK(has(node(R"("cpu": {"arch": "x86"})"), "x86_64"));
}
