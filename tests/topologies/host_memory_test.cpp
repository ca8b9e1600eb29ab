#include <algorithm>

#include <doctest/doctest.h>

#include "tests/topologies/route_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

/// Two sockets, each with two PCIe switches of two GPUs, the first with a NIC; no NVLink.
NodeSpec pcie_node(bool peer_access, bool gpu_direct) {
  NodeSpec spec = cube_mesh_node();
  spec.scale_up = std::monostate{};
  spec.memory_link = bus(100);
  spec.identity.peer_access = peer_access;
  spec.identity.gpu_direct = gpu_direct;
  return spec;
}

/// The kinds of the devices on a way, the first left out.
std::vector<VertexKind> kinds(const Cluster& cluster, VertexId from, VertexId to) {
  std::vector<VertexKind> seen;
  VertexId at = from;
  for (const LinkId link : route(cluster, from, to)) {
    CHECK(cluster.fabric->source(link) == at);
    at = cluster.fabric->target(link);
    seen.push_back(cluster.fabric->vertex(at).kind);
  }
  CHECK(at == to);
  return seen;
}

using Kinds = std::vector<VertexKind>;
constexpr VertexKind gpu = VertexKind::gpu;
constexpr VertexKind pcie = VertexKind::pcie_switch;
constexpr VertexKind cpu = VertexKind::cpu;
constexpr VertexKind memory = VertexKind::memory;

}  // namespace

TEST_CASE("GPUs without peer access go up to the memory of the receiver's socket and down again") {
  const Cluster cluster = single_node(pcie_node(false, true));
  CHECK(kinds(cluster, VertexId{0}, VertexId{1}) == Kinds{pcie, cpu, memory, cpu, pcie, gpu});
  CHECK(kinds(cluster, VertexId{0}, VertexId{3}) == Kinds{pcie, cpu, memory, cpu, pcie, gpu});
  CHECK(kinds(cluster, VertexId{0}, VertexId{7}) == Kinds{pcie, cpu, cpu, memory, cpu, pcie, gpu});
  NodeSpec bare = pcie_node(false, true);
  bare.memory_link.reset();
  const Cluster without = single_node(bare);
  CHECK(kinds(without, VertexId{0}, VertexId{1}) == Kinds{pcie, cpu, pcie, gpu});
}

TEST_CASE("with peer access, as by default, GPUs take the shortest way") {
  CHECK(NodeSpec{}.identity.peer_access);
  CHECK(broken_routes(single_node(pcie_node(true, false))) == "");
}

TEST_CASE("NVLink needs no peer access of PCIe") {
  NodeSpec spec = cube_mesh_node();
  spec.identity.peer_access = false;
  const Cluster cluster = single_node(spec);
  for (std::uint32_t to = 1; to < 8; ++to) {
    for (const LinkId link : route(cluster, VertexId{0}, VertexId{to})) {
      CHECK(cluster.fabric->link(link).kind == LinkKind::nvlink);
    }
  }
}

TEST_CASE("without GPUDirect data is staged in the memory of the GPU's socket at both ends") {
  for (const bool gpu_direct : {false, true}) {
    const Cluster cluster = star(nodes(2, pcie_node(true, gpu_direct)), cable());
    const auto seen = kinds(cluster, cluster.endpoints[0], cluster.endpoints[9]);
    CHECK(std::count(seen.begin(), seen.end(), memory) == (gpu_direct ? 0 : 2));
    CHECK(std::count(seen.begin(), seen.end(), VertexKind::nic) == 2);
  }
}

TEST_CASE("a scenario says it of a node in full, of a preset and of a graph") {
  const auto staged = [](const std::string& node) {
    const Cluster cluster = good(R"({"cluster": {"node": )" + node + "}}");
    return kinds(cluster, cluster.endpoints[0], cluster.endpoints[1]);
  };
  CHECK(staged(R"({"preset": "PCIe-8xL40S", "peer_access": false})") == Kinds{pcie, cpu, pcie, gpu});
  CHECK(staged(R"({"preset": "PCIe-8xL40S", "peer_access": false, "memory_link": "pcie5x16"})") ==
        Kinds{pcie, cpu, memory, cpu, pcie, gpu});
  CHECK(staged(R"({"preset": "PCIe-8xL40S", "peer_access": true})") == Kinds{pcie, gpu});
  const std::string graph = R"({"graph": {"vertices": [{"name": "g0", "kind": "gpu"}, {"name": "g1", "kind": "gpu"},
    {"name": "c", "kind": "cpu"}, {"name": "s", "kind": "pcie_switch"}], "links": [
    {"between": ["g0", "s"], "rate": "10GB/s", "kind": "pcie"}, {"between": ["g1", "s"], "rate": "10GB/s", "kind": "pcie"},
    {"between": ["s", "c"], "rate": "10GB/s", "kind": "pcie"}]}, "peer_access": )";
  CHECK(staged(graph + "false}") == Kinds{pcie, cpu, pcie, gpu});
  CHECK(staged(graph + "true}") == Kinds{pcie, gpu});
}

TEST_CASE("host memory that is not there is a fault") {
  CHECK(has(
      bad(R"({"cluster": {"node": {"graph": {"vertices": [{"name": "g0", "kind": "gpu"}, {"name": "g1", "kind": "gpu"}],
    "links": [{"between": ["g0", "g1"], "rate": "10GB/s", "kind": "pcie"}]}, "peer_access": false}}})"),
      "has no CPU"));
}
