#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/topologies/route_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

/// Sockets with memories of 100 GB/s, joined by 40; cores of 10; NICs on the first socket.
NodeSpec cpu_node(std::uint32_t processes, std::uint32_t sockets, std::uint32_t nics, bool memories) {
  NodeSpec spec;
  spec.name = "cpus";
  spec.processes = processes;
  spec.sockets = sockets;
  spec.nics = nics;
  spec.core_link = bus(10);
  spec.pcie_link = bus(30);
  if (sockets > 1) { spec.socket_link = bus(40); }
  if (memories) { spec.memory_link = bus(100); }
  PcieGroupSpec group{.socket = 0, .has_switch = false};
  for (std::uint32_t nic = 0; nic < nics; ++nic) { group.nics.push_back(nic); }
  if (nics > 0) {
    spec.pcie = {group};
    spec.nic.rate = bus(25).rate;
  }
  return spec;
}

std::vector<VertexKind> passed(const Cluster& cluster, std::uint32_t from, std::uint32_t to) {
  std::vector<VertexKind> kinds;
  for (const LinkId link : route(cluster, cluster.endpoints[from], cluster.endpoints[to])) {
    kinds.push_back(cluster.fabric->vertex(cluster.fabric->target(link)).kind);
  }
  return kinds;
}

/// As a scenario writes one; `more`: further keys of the node, each after a comma.
std::string node_of(const std::string& more) {
  return R"({"cluster": {"node": {"processes": 4, "sockets": 2, "core_link": "core", "socket_link": "cpu-xgmi-milan")" +
         more + "}}}";
}

}  // namespace

TEST_CASE("the ranks of a node of CPUs are its processes, socket after socket") {
  for (const std::uint32_t processes : {1U, 2U, 5U, 16U, 112U}) {
    const NodeSpec spec = cpu_node(processes, 2, 0, true);
    const Cluster cluster = single_node(spec);
    CHECK(cluster.endpoints.size() == processes);
    CHECK(cluster.endpoints_per_node == processes);
    CHECK(broken_routes(single_node(cpu_node(processes, 2, 0, false))) == "");
    CHECK(count(*cluster.fabric, VertexKind::process) == processes);
    CHECK(count(*cluster.fabric, VertexKind::gpu) == 0);
    for (std::uint32_t p = 1; p < processes; ++p) { CHECK(spec.socket_of(p) - spec.socket_of(p - 1) <= 1); }
    CHECK(spec.socket_of(0) == 0);
    if (processes > 1) { CHECK(spec.socket_of(processes - 1) == 1); }
  }
}

TEST_CASE("processes reach each other through the memory of the socket of the one that receives") {
  using Kind = VertexKind;
  const Cluster with = single_node(cpu_node(4, 2, 0, true));
  CHECK(passed(with, 0, 1) == std::vector{Kind::cpu, Kind::memory, Kind::cpu, Kind::process});
  CHECK(passed(with, 0, 3) == std::vector{Kind::cpu, Kind::cpu, Kind::memory, Kind::cpu, Kind::process});
  CHECK(passed(with, 3, 0) == std::vector{Kind::cpu, Kind::cpu, Kind::memory, Kind::cpu, Kind::process});
  const Cluster without = single_node(cpu_node(4, 2, 0, false));
  CHECK(passed(without, 0, 1) == std::vector{Kind::cpu, Kind::process});
  CHECK(passed(without, 0, 3) == std::vector{Kind::cpu, Kind::cpu, Kind::process});
}

TEST_CASE("the processes of a node leave it by its NICs, which they divide") {
  const auto nics_of = [](std::uint32_t nics, std::uint32_t process) {
    return NodeTemplate(cpu_node(4, 2, nics, true)).nearest_nic(process);
  };
  for (std::uint32_t process = 0; process < 4; ++process) {
    CHECK(nics_of(1, process) == 0);
    CHECK(nics_of(2, process) == process % 2);
  }
  const Cluster cluster = good(R"({"cluster": {"node": "AWS-hpc7g-4xlarge", "nodes": 2,
    "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "1us"}}}})");
  CHECK(cluster.endpoints.size() == 32);
  CHECK(cluster.nics_per_node == 1);
  using Kind = VertexKind;
  CHECK(passed(cluster, 0, 16) == std::vector{Kind::cpu, Kind::nic, Kind::leaf, Kind::nic, Kind::cpu, Kind::process});
}

TEST_CASE("a half of a node of CPUs is a socket with its memory, or half of the processes of one") {
  for (const bool memories : {false, true}) {
    const Cluster two = single_node(cpu_node(8, 2, 0, memories));
    const std::vector<Cut> halves = half_cuts(two);
    REQUIRE(halves.size() == 1);
    CHECK(halves[0].inside == 4);
    CHECK(halves[0].out == bus(40).rate);
  }
  const std::vector<Cut> halves = half_cuts(single_node(cpu_node(8, 1, 0, true)));
  REQUIRE(halves.size() == 1);
  CHECK(halves[0].inside == 4);
  CHECK(halves[0].out == bus(10).rate * 4);
}

TEST_CASE("every preset of CPUs is a node with one process on each core") {
  for (const auto& [name, cores] : {std::pair("AWS-hpc7g-4xlarge", 16U),
                                    {"AWS-hpc7g-16xlarge", 64U},
                                    {"Azure-HB120rs-v3", 120U},
                                    {"LLNL-Dane", 112U},
                                    {"GCP-c2d-standard-112", 56U}}) {
    CAPTURE(name);
    const Cluster cluster = good(fmt::format(R"({{"cluster": {{"node": "{}"}}}})", name));
    REQUIRE(cluster.endpoints.size() == cores);
    CHECK(passed(cluster, 0, 1) ==
          std::vector{VertexKind::cpu, VertexKind::memory, VertexKind::cpu, VertexKind::process});
    CHECK(passed(cluster, cores - 1, 0).back() == VertexKind::process);
  }
}

TEST_CASE("processes stand in place of a preset's GPUs, and GPUs in place of its processes") {
  const Cluster hosts = good(R"({"cluster": {"node": {"preset": "DGX-1V", "processes": 8, "core_link": "core"}}})");
  CHECK(hosts.endpoints.size() == 8);
  CHECK(count(*hosts.fabric, VertexKind::gpu) == 0);
  CHECK(count(*hosts.fabric, VertexKind::nic) == 4);
  CHECK(hosts.identity->gpu.empty());
  CHECK_FALSE(hosts.identity->compute_capability.has_value());
  const Cluster gpus = good(R"({"cluster": {"node": {"preset": "AWS-hpc7g-4xlarge", "gpus": 2,
    "pcie": [{"socket": 0, "gpus": [0, 1], "nics": [0]}]}}})");
  CHECK(gpus.endpoints.size() == 2);
  CHECK(count(*gpus.fabric, VertexKind::gpu) == 2);
  CHECK(count(*gpus.fabric, VertexKind::process) == 0);
}

TEST_CASE("a node without NICs needs no PCIe, and one with some does") {
  CHECK(good(node_of("")).endpoints.size() == 4);
  CHECK(has(bad(node_of(R"(, "nics": 1, "nic": "CX6-HDR")")), R"(a node needs "gpu" or "pcie_link")"));
}

TEST_CASE("processes beside GPUs, without cores, or without number are refused where they stand") {
  for (const char* key : {R"("gpus": 2)", R"("gpu": "H100-SXM-80GB")", R"("scale_up": {"kind": "nvswitch"})",
                          R"("c2c_link": "nvlink-c2c-grace")", R"("gpu_direct": false)"}) {
    CAPTURE(key);
    CHECK(has(bad(node_of(std::string(", ") + key)), "the ranks of a node are its \"processes\""));
  }
  CHECK(has(bad(R"({"cluster": {"node": {"processes": 4}}})"), R"(needs "core_link")"));
  CHECK(has(bad(R"({"cluster": {"node": {"preset": "DGX-H100", "core_link": "core"}}})"), "no-effect@1"));
  CHECK(has(bad(R"({"cluster": {"node": {"sockets": 2, "pcie_link": "pcie5x16"}}})"), R"("gpus" or "processes")"));
  CHECK(has(bad(R"({"cluster": {"node": {"processes": 0, "core_link": "core"}}})"), "out-of-range"));
  CHECK(has(bad(R"({"cluster": {"node": {"processes": 4, "sockets": 2, "core_link": "core"}}})"),
            "process 0 of the node cannot reach process 2"));
  CHECK(
      has(bad(R"({"cluster": {"graph": {"vertices": [{"name": "a", "kind": "process"}], "links": []}}})"), "process"));
  NodeSpec both = cpu_node(2, 1, 0, true);
  both.gpus = 1;
  CHECK_FALSE(faults(both).empty());
}
