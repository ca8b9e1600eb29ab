#include <algorithm>

#include <doctest/doctest.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "tests/topologies/route_laws.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::test;

TEST_CASE("on an NVSwitch every two GPUs are two NVLinks apart, whatever the PCIe tree") {
  for (const std::uint32_t gpus : {2U, 3U, 8U, 16U}) {
    const Cluster cluster = single_node(nvswitch_node(gpus, gpus));
    CHECK(cluster.endpoints.size() == gpus);
    CHECK(broken_routes(cluster) == "");
    for (const LinkId link : route(cluster, cluster.endpoints[0], cluster.endpoints[gpus - 1])) {
      CHECK(cluster.fabric->link(link).kind == LinkKind::nvlink);
    }
    CHECK(count(*cluster.fabric, LinkKind::nvlink) == 2 * gpus);
  }
}

TEST_CASE("in a hybrid cube mesh GPUs are one NVLink apart, or two by way of a neighbour") {
  const NodeSpec spec = cube_mesh_node();
  const auto& counts = std::get<NvlinkMeshSpec>(spec.scale_up).counts;
  const Cluster cluster = single_node(spec);
  for (std::uint32_t a = 0; a < 8; ++a) {
    for (std::uint32_t b = 0; b < 8; ++b) {
      if (a == b) { continue; }
      const auto path = route(cluster, VertexId{a}, VertexId{b});
      CHECK(broken(*cluster.fabric, VertexId{a}, VertexId{b}, path) == "");
      CHECK(path.size() == (counts[a][b] > 0 ? 1 : 2));
      CHECK(cluster.fabric->link(path[0]).kind == LinkKind::nvlink);
      if (path.size() == 1) { CHECK(cluster.fabric->link(path[0]).rate == bus(25).rate * counts[a][b]); }
    }
  }
  CHECK(broken_routes(cluster) == "");
}

TEST_CASE("pairs that are not joined go by PCIe where the node says so") {
  NodeSpec spec = cube_mesh_node();
  std::get<NvlinkMeshSpec>(spec.scale_up).unjoined = Unjoined::pcie;
  const Cluster cluster = single_node(spec);
  const auto path = route(cluster, VertexId{0}, VertexId{7});
  CHECK(broken(*cluster.fabric, VertexId{0}, VertexId{7}, path) == "");
  CHECK(path.size() == 5);  // switch, socket, socket, switch, GPU
  for (const LinkId link : path) { CHECK(cluster.fabric->link(link).kind != LinkKind::nvlink); }
}

TEST_CASE("without NVLink GPUs meet at their switch, their socket, or cross between the sockets") {
  NodeSpec spec = cube_mesh_node();
  spec.scale_up = std::monostate{};
  const Cluster cluster = single_node(spec);
  CHECK(route(cluster, VertexId{0}, VertexId{1}).size() == 2);
  CHECK(route(cluster, VertexId{0}, VertexId{3}).size() == 4);
  CHECK(route(cluster, VertexId{0}, VertexId{7}).size() == 5);
  CHECK(broken_routes(cluster) == "");
}

TEST_CASE("a NIC is no way through for its neighbours, and adds its forwarding to what it sends") {
  using namespace literals;
  const Cluster cluster = single_node(nvswitch_node(2, 2));
  const Fabric& fabric = *cluster.fabric;
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    const bool from_nic = fabric.vertex(fabric.source(LinkId{l})).kind == VertexKind::nic;
    CHECK(fabric.link(LinkId{l}).latency == (from_nic ? 400_ns : 100_ns));
  }
}

TEST_CASE("GPUs share NICs evenly among those that are equally near") {
  NodeSpec spec = nvswitch_node(4, 2);
  spec.pcie = {{0, true, {0, 1, 2, 3}, {0, 1}}};
  const NodeTemplate node(spec);
  CHECK(node.nearest_nic(0) == 0);
  CHECK(node.nearest_nic(1) == 1);
  CHECK(node.nearest_nic(2) == 0);
  CHECK(node.nearest_nic(3) == 1);
}

TEST_CASE("a GPU without a NIC beside it takes one of its own socket") {
  NodeSpec spec = cube_mesh_node();
  spec.nics = 2;
  spec.pcie = {{0, true, {0, 1}, {0}}, {0, true, {2, 3}, {}}, {1, true, {4, 5}, {}}, {1, true, {6, 7}, {1}}};
  const NodeTemplate node(spec);
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) { CHECK(node.nearest_nic(gpu) == gpu / 4); }
}

namespace {

/// Under each socket a switch over two switches, each with two GPUs and a NIC: groups within groups.
NodeSpec nested_node(std::uint32_t sockets) {
  NodeSpec spec = nvswitch_node(4 * sockets, 2 * sockets);
  spec.scale_up = std::monostate{};
  spec.sockets = sockets;
  spec.pcie.clear();
  for (std::uint32_t s = 0; s < sockets; ++s) {
    PcieGroupSpec socket{.socket = s};
    for (const std::uint32_t g : {2 * s, 2 * s + 1}) {
      socket.groups.push_back({.gpus = {2 * g, 2 * g + 1}, .nics = {g}});
    }
    spec.pcie.push_back(socket);
  }
  return spec;
}

/// How many devices of a kind a way passes.
std::uint32_t passed(const Cluster& cluster, const std::vector<LinkId>& path, VertexKind kind) {
  return static_cast<std::uint32_t>(std::count_if(path.begin(), path.end(), [&](LinkId link) {
    return cluster.fabric->vertex(cluster.fabric->target(link)).kind == kind;
  }));
}

}  // namespace

TEST_CASE("in a tree of PCIe switches GPUs meet at the lowest switch above both, or cross between sockets") {
  for (const std::uint32_t sockets : {1U, 2U, 4U}) {
    CAPTURE(sockets);
    const Cluster cluster = single_node(nested_node(sockets));
    CHECK(broken_routes(cluster) == "");
    CHECK(count(*cluster.fabric, VertexKind::pcie_switch) == 3 * sockets);
    CHECK(count(*cluster.fabric, LinkKind::pcie) == 2 * (4 + 2 + 2 + 1) * sockets);
    for (std::uint32_t a = 0; a < 4 * sockets; ++a) {
      for (std::uint32_t b = 0; b < 4 * sockets; ++b) {
        if (a == b) { continue; }
        const auto path = route(cluster, VertexId{a}, VertexId{b});
        const bool one_switch = a / 2 == b / 2;
        const bool one_socket = a / 4 == b / 4;
        CHECK(path.size() == (one_switch ? 2 : one_socket ? 4 : 7));
        CHECK(passed(cluster, path, VertexKind::pcie_switch) == (one_switch ? 1 : one_socket ? 3 : 4));
        CHECK(passed(cluster, path, VertexKind::cpu) == (one_socket ? 0 : 2));
      }
    }
  }
}

TEST_CASE("in a tree of PCIe switches two GPUs share the NIC below their switch, and data leaves without the socket") {
  const NodeTemplate node(nested_node(2));
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) { CHECK(node.nearest_nic(gpu) == gpu / 2); }
  const Cluster cluster = star(nodes(2, nested_node(2)), cable());
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    const auto path = route(cluster, cluster.endpoints[gpu], cluster.endpoints[8 + (gpu + 3) % 8]);
    CHECK(path.size() == 6);
    CHECK(passed(cluster, path, VertexKind::cpu) == 0);
  }
}

TEST_CASE("a group without a switch of its own hangs on what is around it") {
  NodeSpec spec = nested_node(1);
  spec.pcie[0].groups[1].has_switch = false;
  const Cluster cluster = single_node(spec);
  CHECK(count(*cluster.fabric, VertexKind::pcie_switch) == 2);
  CHECK(route(cluster, VertexId{2}, VertexId{3}).size() == 2);
  CHECK(route(cluster, VertexId{0}, VertexId{2}).size() == 3);
}

TEST_CASE("half of a node with nested switches is one of its sockets, with all that hangs there") {
  const Cluster cluster = single_node(nested_node(2));
  const std::vector<Cut> halves = half_cuts(cluster);
  REQUIRE(halves.size() == 1);
  CHECK(halves[0].inside == 4);
  CHECK(halves[0].out == bus(22).rate);
}

TEST_CASE("every fault of a node is found, and a faulty one is not built") {
  const auto fault_of = [](auto&& change) {
    NodeSpec spec = cube_mesh_node();
    change(spec);
    const std::vector<std::string> found = faults(spec);
    CHECK_THROWS_AS(NodeTemplate{spec}, BrokenInvariant);
    return found.empty() ? std::string() : found.front();
  };
  CHECK(faults(cube_mesh_node()).empty());
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(has(fault_of([](NodeSpec& s) { s.gpus = 0; }), "at least one GPU"));
  CHECK(has(fault_of([](NodeSpec& s) { s.gpus = 5000; }), "at most 1024"));
  CHECK(has(fault_of([](NodeSpec& s) { s.sockets = 1; }), "socket 1"));
  CHECK(has(fault_of([](NodeSpec& s) { s.pcie[0].gpus = {0}; }), "GPU 1 stands in 0"));
  CHECK(has(fault_of([](NodeSpec& s) { s.pcie[0].gpus = {0, 1, 2}; }), "GPU 2 stands in 2"));
  CHECK(has(fault_of([](NodeSpec& s) { s.pcie[0].nics = {9}; }), "NIC 9"));
  CHECK(has(fault_of([](NodeSpec& s) { s.pcie[0].groups = {{.gpus = {2}}}; }), "GPU 2 stands in 2"));
  CHECK(has(fault_of([](NodeSpec& s) { s.pcie[0].groups.resize(2000); }), "PCIe switches in one node"));
  CHECK(has(fault_of([](NodeSpec& s) { s.pcie_link.usable = Bandwidth::zero(); }), "PCIe has no bandwidth"));
  CHECK(has(fault_of([](NodeSpec& s) { s.nic.rate = Bandwidth::zero(); }), "NIC has no bandwidth"));
  CHECK(has(fault_of([](NodeSpec& s) { s.pcie_link.latency = Time{-1}; }), "negative latency"));
  CHECK(has(fault_of([](NodeSpec& s) { std::get<NvlinkMeshSpec>(s.scale_up).counts[0][1] = 5; }), "has 2 back"));
  CHECK(has(fault_of([](NodeSpec& s) { std::get<NvlinkMeshSpec>(s.scale_up).counts[0][0] = 1; }), "itself"));
  CHECK(has(fault_of([](NodeSpec& s) { std::get<NvlinkMeshSpec>(s.scale_up).counts.pop_back(); }), "8 x 8"));
}

TEST_CASE("no route is an error that names both ends") {
  const Cluster cluster = single_node(nvswitch_node(2, 1));
  try {
    route(cluster, cluster.endpoints[0], VertexId{2}, 0);
    route(cluster, VertexId{2}, VertexId{3}, 0);  // from the NVSwitch to a socket
    FAIL("there is a route");
  } catch (const SimulationError& error) {
    CHECK(error.code() == "no-route");
    CHECK(std::string(error.what()).find("node0/nvswitch0 to node0/cpu0") != std::string::npos);
  }
}
