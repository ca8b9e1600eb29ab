#include <map>
#include <string>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/binary_trees.hpp"
#include "models/execution/run.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

constexpr Bandwidth kInside = 80_GBps;
constexpr Bandwidth kNetwork = 10_GBps;

/// GPUs on an NVSwitch, each with a NIC on a PCIe switch that is faster than it.
NodeSpec node_of(std::uint32_t gpus) {
  NodeSpec spec;
  spec.name = "GPUs with a NIC each";
  spec.gpus = spec.nics = gpus;
  spec.scale_up = NvSwitchSpec{{kInside, kInside, 100_ns}};
  spec.pcie_link = {100_GBps, 100_GBps, 250_ns};
  spec.nic.rate = kNetwork;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) { spec.pcie.push_back({0, true, {gpu}, {gpu}}); }
  return spec;
}

/// Rail r of every node on one switch of its own.
Cluster rails(std::uint32_t count, std::uint32_t gpus) {
  ClosSpec network;
  network.hosts_per_leaf = count;
  network.host_cable = network.up_cable = network.core_cable = {kNetwork, kNetwork, 500_ns, Time::zero()};
  return rail_only(nodes(count, node_of(gpus)), network);
}

RunResult run(const Cluster& cluster, std::string_view name, std::int64_t elements, Overrides overrides = {}) {
  const Profile ideal;
  const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
  if (!overrides.chunk) { overrides.chunk = Bytes{4} * std::max<std::int64_t>(elements, 1); }
  const Collective collective{CollectiveKind::all_reduce, ranks, Elements{elements}};
  return run_collective(
      {.cluster = cluster,
       .profile = ideal,
       .collective = collective,
       .algorithms = {&find(CollectiveKind::all_reduce, name)},
       .overrides = overrides,
       .options = {},
       .aggregation = std::make_shared<const EngineDeployment>(EngineDeployment{engine_catalog().front(), {}})});
}

/// From a GPU over its NIC to the switch of its rail.
Time to_switch(const Cluster& cluster) {
  std::vector<LinkId> path;
  const std::uint32_t next = cluster.endpoints_per_node;
  cluster.router->route({.from = cluster.endpoints[0], .to = cluster.endpoints[next]}, path);
  Time latency;
  for (const LinkId link : path) { latency += cluster.fabric->link(link).latency; }
  return latency / 2;
}

Time message(Time latency, std::int64_t elements, Bandwidth rate) {
  return latency + transfer_time(Bytes{4} * elements, rate);
}

/// How many links carry so many bytes, of those from GPUs to NVSwitches and back, and from NICs to the network and
/// back.
struct Traffic {
  std::map<Bytes, std::uint32_t> to_nvswitch;
  std::map<Bytes, std::uint32_t> from_nvswitch;
  std::map<Bytes, std::uint32_t> to_network;
  std::map<Bytes, std::uint32_t> from_network;
};

Traffic traffic_of(const Cluster& cluster, const RunResult& result) {
  Traffic traffic;
  const Fabric& fabric = *cluster.fabric;
  for (const LinkLoad& load : result.simulated.network.loads) {
    const VertexKind from = fabric.vertex(fabric.source(load.link)).kind;
    const VertexKind to = fabric.vertex(fabric.target(load.link)).kind;
    if (to == VertexKind::nvswitch) { traffic.to_nvswitch[load.carried] += load.members; }
    if (from == VertexKind::nvswitch) { traffic.from_nvswitch[load.carried] += load.members; }
    if (to == VertexKind::leaf) { traffic.to_network[load.carried] += load.members; }
    if (from == VertexKind::leaf) { traffic.from_network[load.carried] += load.members; }
  }
  return traffic;
}

using Links = std::map<Bytes, std::uint32_t>;

std::string refusal(const Cluster& cluster, std::string_view name, const Overrides& overrides = {}) {
  try {
    run(cluster, name, 1000, overrides);
  } catch (const SimulationError& error) { return error.what(); }
  return "";
}

constexpr std::string_view kAll[] = {"nvls_tree", "nvls_sharp", "collnet_direct", "collnet_chain"};

}  // namespace

// In one chunk every message follows the one before: inside the node to the head (NVLS: all pieces to the switches, one
// back), up and down a tree of one switch, and inside again.
TEST_CASE("with a switch per rail, one chunk takes the messages of a node twice, and one up and one down between") {
  for (const std::uint32_t g : {2U, 4U, 8U}) {
    for (const std::uint32_t count : {2U, 3U, 8U}) {
      const Cluster cluster = rails(count, g);
      for (const std::int64_t piece : {0, 1, 1000}) {
        CAPTURE(g);
        CAPTURE(count);
        CAPTURE(piece);
        const std::int64_t n = piece * g;
        const Time across = message(to_switch(cluster), piece, kNetwork) * 2;
        const Time nvls = message(100_ns, n, kInside) + message(100_ns, piece, kInside);
        CHECK(run(cluster, "nvls_sharp", n).time == across + nvls * 2);
        const Time direct = message(200_ns, n - piece, kInside);
        const Time shared = run(cluster, "collnet_direct", n).time;  // a port's rate over G-1 messages may be no whole
        CHECK(shared >= across + direct * 2);
        CHECK(shared <= across + direct * 2 + Time{2});
        const Time chain = message(200_ns, piece, kInside) * (g - 1);
        CHECK(run(cluster, "collnet_chain", n).time == across + chain * 2);
      }
    }
  }
}

TEST_CASE("the latency of nvls_tree grows with the depth of its binary trees, that of nvls_sharp not with the nodes") {
  for (const std::uint32_t count : {2U, 3U, 4U, 7U, 8U, 16U, 32U}) {
    CAPTURE(count);
    const Cluster cluster = rails(count, 2);
    const Time hop = to_switch(cluster) * 2;
    CHECK(run(cluster, "nvls_tree", 0).time == 400_ns + hop * (2 * DoubleBinaryTree(count).depth()));
    CHECK(run(cluster, "nvls_sharp", 0).time == 400_ns + hop);
  }
}

TEST_CASE("switches of the network halve what NICs carry, and NVLink carries (G+1)/G of the payload either way") {
  for (const std::uint32_t g : {2U, 4U, 8U}) {
    for (const std::uint32_t count : {2U, 5U, 8U}) {
      CAPTURE(g);
      CAPTURE(count);
      const Cluster cluster = rails(count, g);
      const std::int64_t elements = std::int64_t{8} * 1000;
      const Bytes n = Bytes{4} * elements;
      const Bytes piece = n / g;
      const std::uint32_t gpus = g * count;
      for (const std::string_view name : kAll) {
        CAPTURE(name);
        const RunResult result = run(cluster, name, elements);
        CHECK(result.bound.time <= result.time);
        const Traffic traffic = traffic_of(cluster, result);
        const bool nvls = name.substr(0, 4) == "nvls";
        const Links inside{{nvls ? n + piece : (n - piece) * 2, gpus}};
        CHECK(traffic.to_nvswitch == inside);
        CHECK(traffic.from_nvswitch == inside);
        if (name == "nvls_tree") { continue; }
        CHECK(traffic.to_network == Links{{piece, gpus}});
        CHECK(traffic.from_network == Links{{piece, gpus}});
      }
    }
  }
}

TEST_CASE("no small payload comes before the bound where ranks forward between rails") {
  ClosSpec network;
  network.host_cable = network.up_cable = network.core_cable = {kNetwork, kNetwork, 500_ns, Time::zero()};
  network.hosts_per_leaf = 4;
  const Cluster cluster = rail_optimized(nodes(4, node_of(4)), network);
  for (const std::string_view name : kAll) {
    CAPTURE(name);
    const RunResult result = run(cluster, name, 4);
    CHECK(result.bound.time > Time::zero());
    CHECK(result.time >= result.bound.time);
  }
}

TEST_CASE("in binary trees across nodes no NIC carries more than twice its piece, and all together 2(N-1) pieces") {
  for (const std::uint32_t count : {2U, 4U, 8U, 16U}) {
    CAPTURE(count);
    const Cluster cluster = rails(count, 4);
    const std::int64_t elements = 8000;
    const Bytes piece = Bytes{4} * elements / 4;
    const Traffic traffic = traffic_of(cluster, run(cluster, "nvls_tree", elements));
    for (const Links& links : {traffic.to_network, traffic.from_network}) {
      Bytes together;
      for (const auto& [carried, members] : links) {
        CHECK(carried <= piece * 2);
        together += carried * members;
      }
      CHECK(together == piece * (2 * (count - 1)) * 4);
    }
  }
}

TEST_CASE("chunks follow each other through nodes and network: many take little longer than their narrowest link") {
  const Cluster cluster = rails(4, 4);
  const std::int64_t elements = 4'000'000;
  const Time narrowest = transfer_time(Bytes{4} * elements / 4, kNetwork);
  for (const std::string_view name : {"nvls_sharp", "collnet_direct", "collnet_chain"}) {
    CAPTURE(name);
    Overrides overrides;
    overrides.chunk = 40_KiB;
    const Time time = run(cluster, name, elements, overrides).time;
    CHECK(time > narrowest);
    CHECK(time < narrowest * 3 / 2);
  }
}

TEST_CASE("all of a node's rails are used, and equal loops and classes change no time") {
  const Cluster cluster = rails(4, 4);
  for (const std::string_view name : kAll) {
    CAPTURE(name);
    const Profile ideal;
    const auto time = [&](bool fast) {
      SimulationOptions options;
      options.classes = options.repeat_loops = fast;
      Overrides overrides;
      overrides.chunk = 16_KiB;
      const Collective collective{CollectiveKind::all_reduce, 16, Elements{1'600'000}};
      return run_collective({.cluster = cluster,
                             .profile = ideal,
                             .collective = collective,
                             .algorithms = {&find(CollectiveKind::all_reduce, name)},
                             .overrides = overrides,
                             .options = options,
                             .aggregation = std::make_shared<const EngineDeployment>(
                                 EngineDeployment{engine_catalog().front(), {}})})
          .time;
    };
    CHECK(time(true) == time(false));
  }
}

TEST_CASE("what goes by nodes needs several whole ones, NVSwitches and trees where it uses them, and NCCL's limits") {
  for (const std::string_view name : kAll) {
    CAPTURE(name);
    CHECK(refusal(single_node(node_of(4)), name).find("at least two whole nodes of 4 ranks") != std::string::npos);
    Overrides other;
    other.group = 2;
    CHECK(refusal(rails(2, 4), name, other).find("its groups are the nodes, of 4 ranks") != std::string::npos);
    const bool nvls = name.substr(0, 4) == "nvls";
    CHECK(refusal(rails(2, 9), name).empty() == nvls);
    NodeSpec bare = node_of(4);
    bare.scale_up = {};
    ClosSpec network;
    network.host_cable = network.up_cable = network.core_cable = {kNetwork, kNetwork, 500_ns, Time::zero()};
    network.hosts_per_leaf = 2;
    const Cluster without = rail_optimized(nodes(2, bare), network);
    CHECK((refusal(without, name).find("on one NVSwitch") != std::string::npos) == nvls);
  }
  CHECK(refusal(rails(2, 9), "collnet_chain").find("nodes of at most 8 ranks, not 9") != std::string::npos);
}

// A data-parallel group beside tensor-parallel ones has one GPU of each node: it goes up its tree and down again.
TEST_CASE("a rank that is alone in its node is its only head, and NVSwitches have nothing to add up there") {
  const Cluster cluster = rails(4, 1);
  constexpr std::int64_t kElements = 1'000'000;
  for (const std::string_view name : {"collnet_direct", "collnet_chain", "aggregation_tree"}) {
    CAPTURE(name);
    CHECK(run(cluster, name, kElements).time == message(to_switch(cluster), kElements, kNetwork) * 2);
  }
  for (const std::string_view name : {"nvls_tree", "nvls_sharp"}) {
    CHECK(refusal(cluster, name).find("nodes of at least two ranks") != std::string::npos);
  }
}
