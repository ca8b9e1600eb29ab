#include <set>

#include <doctest/doctest.h>

#include "models/nccl/execution/communicator.hpp"
#include "models/nccl/machine/channel_nics.hpp"
#include "models/network/connections.hpp"
#include "tests/models/nccl/systems.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using athanor::testing::node_system;
using athanor::testing::preset_system;
using athanor::testing::shape;

namespace {

constexpr const char* kTwoPorts = "OCI-BM.GPU.H100.8";

Cluster two_nodes(const std::string& node) {
  return test::good(R"({"cluster": {"node": ")" + node + R"(", "nodes": 2,
    "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "1us"}}}})");
}

NcclCommunicator communicator(NcclVersion version, const std::map<std::string, std::string>& environment = {}) {
  NcclSettings settings;
  settings.version = version;
  settings.environment = environment;
  return nccl_communicator(two_nodes(kTwoPorts), 16, settings);
}

/// NICs of the sender and of the receiver that the flows of one connection pass.
std::pair<std::set<std::uint32_t>, std::set<std::uint32_t>> nics_of(const Cluster& cluster, const NcclNics& nics) {
  ConnectionBuilder builder(cluster, nics.ring->ports);
  RouteRequest request{cluster.endpoints[0], cluster.endpoints[8]};
  request.nics = nics_between({nics.ring, 0}, {nics.ring, 8}, 0);
  builder.add(request, [](std::span<const LinkId>) { return ConnectionCost{}; });
  std::pair<std::set<std::uint32_t>, std::set<std::uint32_t>> found;
  for (const LinkId link : builder.opened().links) {
    const Fabric& fabric = *cluster.fabric;
    if (fabric.link(link).kind != LinkKind::network) { continue; }
    const Vertex& from = fabric.vertex(fabric.source(link));
    const Vertex& to = fabric.vertex(fabric.target(link));
    if (from.kind == VertexKind::nic) { found.first.insert(from.index); }
    if (to.kind == VertexKind::nic) { found.second.insert(to.index); }
  }
  return found;
}

}  // namespace

TEST_CASE("NCCL merges no ports before 2.20, two of a card before 2.24, then four") {
  CHECK(most_merged_ports({2, 19, 4}) == 1);
  CHECK(most_merged_ports({2, 20, 3}) == 2);
  CHECK(most_merged_ports({2, 23, 4}) == 2);
  CHECK(most_merged_ports({2, 24, 3}) == 4);
}

TEST_CASE("the ports of a card become one net of all their rates, at the place of the first") {
  const NcclSystem apart = preset_system(kTwoPorts, 2);
  REQUIRE(apart.nets.size() == 16);
  CHECK(with_merged_ports(apart, 1).nets.size() == 16);
  const NcclSystem merged = with_merged_ports(apart, 2);
  REQUIRE(merged.nets.size() == 8);
  for (std::uint32_t i = 0; i < 8; ++i) {
    CHECK(merged.nets[i].dev == 2 * i);
    CHECK(merged.nets[i].ports == 2);
    CHECK(merged.nets[i].rate == 2 * apart.nets[2 * i].rate);
    CHECK(merged.vertices[merged.nets[i].vertex].number == i);
  }
  CHECK(merged.vertices.size() == apart.vertices.size() - 2 * 8);
  CHECK(with_merged_ports(merged, 2).nets.size() == 8);
  CHECK(with_merged_ports(preset_system("DGX-H100", 2), 4).nets.size() == 8);
}

TEST_CASE("of a card with more ports than NCCL merges, as many as it does become one at a time") {
  const auto nets = [](std::uint32_t most) {
    const NcclSystem system = node_system(R"({"gpus": 1, "pcie_link": "pcie5x16", "nics": 6,
      "nic": {"preset": "CX6-HDR", "card_ports": 6}})",
                                          2);
    std::vector<std::uint32_t> ports;
    for (const auto& net : with_merged_ports(system, most).nets) { ports.push_back(net.ports); }
    return ports;
  };
  CHECK(nets(1) == std::vector<std::uint32_t>(6, 1));
  CHECK(nets(2) == std::vector<std::uint32_t>{2, 2, 2});
  CHECK(nets(4) == std::vector<std::uint32_t>{4, 2});
}

TEST_CASE("with merged ports channels are those of NICs with the rate of both, and messages take both") {
  const Cluster cluster = two_nodes(kTwoPorts);
  const NcclCommunicator merged = communicator({2, 23, 4});
  CHECK(shape(merged.graphs.ring) == "8x48/48 NVL/PIX");
  CHECK(merged.nics.ring->ports == 2);
  CHECK(merged.peers.nics == 1);
  const auto [out, in] = nics_of(cluster, merged.nics);
  CHECK(out.size() == 2);
  CHECK(in.size() == 2);
  CHECK(*out.begin() % 2 == 0);
  CHECK(*out.rbegin() == *out.begin() + 1);
  for (const NcclCommunicator& apart :
       {communicator({2, 19, 4}), communicator({2, 23, 4}, {{"NCCL_IB_MERGE_NICS", "0"}}),
        communicator({2, 27, 5}, {{"NCCL_NET_MERGE_LEVEL", "LOC"}})}) {
    CHECK(apart.graphs.ring.count() == 16);
    CHECK(apart.nics.ring->ports == 1);
    CHECK(apart.peers.nics == 2);
    CHECK(nics_of(cluster, apart.nics).first.size() == 1);
  }
}

TEST_CASE("devices that hang together in a circle, as where a NIC is on its GPU and on a switch, are read once") {
  const NcclSystem system = preset_system("HLS-Gaudi3", 2);
  CHECK(system.gpus.size() == 8);
  CHECK(system.nets.size() == 8);
  for (const NcclSystem::Gpu& gpu : system.gpus) {
    // Its way to the CPU is the last of its links, NCCL's order.
    CHECK(system.vertices[system.vertices[gpu.vertex].links.back().to].kind == NcclDevice::pci);
  }
  const ChannelGraphs graphs = search_channels(system, 2, {});
  for (const NcclChannel& channel : graphs.ring.channels) { CHECK(channel.gpus.size() == 8); }
}
