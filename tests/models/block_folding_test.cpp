#include <map>
#include <optional>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "models/execution/simulate_calls.hpp"
#include "models/network/link_use.hpp"
#include "sim/random.hpp"
#include "tests/models/padded_collective.hpp"
#include "tests/models/small_clusters.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"
#include "topologies/generators/overrides.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : stream_(seed, "blocks") {}
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(stream_.below(end)); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<std::uint32_t>(values.size())));
  }

 private:
  RandomStream stream_;
};

/// GPUs on an NVSwitch or on PCIe alone, two of them or one beside each NIC.
NodeSpec node_of(Draws& draws, std::uint32_t gpus) {
  NodeSpec spec;
  spec.name = "some GPUs";
  spec.gpus = gpus;
  const std::uint32_t beside = draws.one_of({1U, 2U});
  spec.nics = gpus / beside;
  if (draws.below(4) > 0) { spec.scale_up = NvSwitchSpec{{80_GBps, 80_GBps, 100_ns}}; }
  spec.socket_link = LinkSpec{30_GBps, 30_GBps, 200_ns};
  spec.pcie_link = {25_GBps, 25_GBps, 250_ns};
  spec.nic.rate = 10_GBps;
  for (std::uint32_t nic = 0; nic < spec.nics; ++nic) {
    PcieGroupSpec group{0, true, {}, {nic}};
    for (std::uint32_t gpu = nic * beside; gpu < (nic + 1) * beside; ++gpu) { group.gpus.push_back(gpu); }
    spec.pcie.push_back(group);
  }
  return spec;
}

struct Drawn {
  Cluster cluster;
  std::uint32_t nodes = 0;
  std::uint32_t gpus = 0;
};

/// Leaves are not full, and take some NICs of a node and not the others where rails do not keep them apart.
Drawn cluster_of(Draws& draws) {
  const std::uint32_t gpus = draws.one_of({2U, 4U, 8U});
  const std::uint32_t count = draws.one_of({4U, 6U, 8U, 9U, 12U});
  const NodeSpec node = node_of(draws, gpus);
  ClosSpec network;
  network.host_cable = network.up_cable = network.core_cable = {10_GBps, 10_GBps, 500_ns, Time::zero()};
  RoutingRequest routing;
  routing.routing = draws.one_of({Routing::d_mod_k, Routing::d_mod_k, Routing::ecmp});
  network.hosts_per_leaf = draws.one_of({2U, 3U, 4U, count});
  switch (draws.below(3)) {
    case 0: return {rail_optimized(nodes(count, node), network, routing), count, gpus};
    case 1: network.hosts_per_leaf = count; return {rail_only(nodes(count, node), network, routing), count, gpus};
    default: return {fat_tree(nodes(count, node), network, routing), count, gpus};
  }
}

Cluster cluster_of_hosts(Draws& draws) {
  const CableSpec cable{10_GBps, 10_GBps, 500_ns, Time::zero()};
  const Routing routing = draws.one_of({Routing::d_mod_k, Routing::ecmp});
  switch (draws.below(4)) {
    case 0: return star(hosts(draws.one_of({8U, 15U, 16U})), cable);
    case 1: return cluster_on(R"("kind": "torus", "dimensions": [4, 4])", hosts(16), {}, cable, cable);
    default: break;
  }
  ClosSpec network;
  network.host_cable = network.up_cable = network.core_cable = cable;
  network.hosts_per_leaf = draws.one_of({2U, 3U, 4U});
  return fat_tree(hosts(draws.one_of({12U, 15U, 16U})), network, {.routing = routing});
}

/// Of every other cluster some cable between a NIC and its leaf is slower or longer.
void differ(Draws& draws, Drawn& drawn) {
  if (draws.below(2) == 0) { return; }
  const std::string node = fmt::format("node{}", draws.below(drawn.nodes));
  LinkOverride other{.from = node + "/nic0", .to = "leaf*"};
  other.rate = draws.one_of<std::optional<Bandwidth>>({std::nullopt, 4_GBps});
  other.latency = other.rate ? std::nullopt : std::optional{3_us};
  Problems problems;
  apply_overrides(drawn.cluster, {other}, problems);
  REQUIRE(problems.empty());
}

/// Engines are in the NVSwitches, those of one node after the other.
Placement place(const Drawn& drawn, const AgentCount& agents, std::uint32_t queue_pairs) {
  Placement placement{
      {drawn.cluster.endpoints.begin(), drawn.cluster.endpoints.begin() + agents.ranks}, 3, queue_pairs};
  for (std::uint32_t node = 0; placement.vertices.size() < agents.agents; ++node) {
    const VertexId gpu = drawn.cluster.endpoints[node * drawn.gpus];
    placement.vertices.push_back(drawn.cluster.fabric->target(LinkId{drawn.cluster.fabric->out(gpu).first}));
  }
  return placement;
}

/// Inside a node and between nodes a message costs differently.
class NodeCosts final : public UniformCosts {
 public:
  explicit NodeCosts(const Fabric& fabric) : fabric_(fabric) {
    agent_cost = {300_ns, 200_GBps, 400_GBps, true};
    slot_count = 3;
  }
  ConnectionCost connection(AgentId, AgentId, std::span<const LinkId> path) const override {
    ConnectionCost cost;
    cost.latency = 200_ns;
    for (const LinkId link : path) {
      if (fabric_.link(link).kind == LinkKind::network) { cost.latency = 900_ns; }
    }
    return cost;
  }

 private:
  const Fabric& fabric_;
};

/// How many links of each kind carried how much.
std::map<std::pair<std::string, Bytes>, std::uint32_t> loads(const Simulated& simulated, const Fabric& fabric) {
  std::map<std::pair<std::string, Bytes>, std::uint32_t> found;
  for (const LinkLoad& load : simulated.network.loads) {
    found[{link_class(fabric, load.link), load.carried}] += load.members;
  }
  return found;
}

SimulationOptions by_blocks() {
  SimulationOptions options;
  options.blocks_from = 0;
  return options;
}

SimulationOptions in_full() {
  SimulationOptions options;
  options.classes = options.repeat_loops = false;
  return options;
}

bool has_nvswitch(const Drawn& drawn) {
  const VertexId gpu = drawn.cluster.endpoints.front();
  return drawn.cluster.fabric->vertex(drawn.cluster.fabric->target(LinkId{drawn.cluster.fabric->out(gpu).first}))
             .kind == VertexKind::nvswitch;
}

}  // namespace

TEST_CASE("classes that are found node by node give the times, the ends and the loads of every agent on its own") {
  std::uint32_t folded = 0;
  std::uint32_t smaller = 0;
  std::uint32_t cases = 0;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.engine != Engine::none && algorithm.engine != Engine::nvswitches) { continue; }
    for (std::uint32_t turn = 0; turn < 6; ++turn) {
      Draws draws(join_hash(hash_text(algorithm.name), 16 * static_cast<std::uint64_t>(algorithm.kind) + turn));
      Drawn drawn = cluster_of(draws);
      differ(draws, drawn);
      const Layout layout{.channels = draws.one_of({1U, 2U, 4U}),
                          .chunk = Elements{700},
                          .slices = draws.one_of({1U, 2U}),
                          .rotation = draws.one_of({0U, 1U}),
                          .group = drawn.gpus};
      const std::uint32_t fewer = draws.one_of({0U, 0U, 1U}) * drawn.gpus;  // a node has no rank
      const std::uint32_t ranks = drawn.nodes * drawn.gpus - fewer;
      const Collective collective = padded(algorithm, ranks, 9000, layout);
      if (algorithm.refuses(collective, layout)) { continue; }
      if (algorithm.engine == Engine::nvswitches && !has_nvswitch(drawn)) { continue; }
      CAPTURE(algorithm.name);
      CAPTURE(name(algorithm.kind));
      CAPTURE(turn);
      CAPTURE(drawn.cluster.description);
      CAPTURE(ranks);
      const auto schedule = algorithm.make(collective, layout);
      const NodeCosts costs(*drawn.cluster.fabric);
      const Placement placement = place(drawn, schedule->agent_count(), draws.one_of({1U, 1U, 2U}));
      const Simulated all = simulate(*schedule, drawn.cluster, placement, costs, in_full());
      const Simulated part = simulate(*schedule, drawn.cluster, placement, costs, by_blocks());
      CHECK(part.time == all.time);
      CHECK(part.first_end == all.first_end);
      CHECK(part.all_lanes == all.all_lanes);
      CHECK(loads(part, *drawn.cluster.fabric) == loads(all, *drawn.cluster.fabric));
      ++cases;
      if (part.by_blocks) { ++folded; }
      if (part.by_blocks && part.lanes < part.all_lanes) { ++smaller; }
    }
  }
  MESSAGE(cases, " cases, ", folded, " node by node, ", smaller, " of them smaller");
  CHECK(folded * 3 > cases);
  CHECK(smaller * 2 > folded);
}

TEST_CASE("classes of hosts that are in no node are found in the same way, each a block of its own") {
  std::uint32_t folded = 0;
  std::uint32_t smaller = 0;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.engine != Engine::none) { continue; }
    for (std::uint32_t turn = 0; turn < 4; ++turn) {
      Draws draws(join_hash(hash_text(algorithm.name), 16 * static_cast<std::uint64_t>(algorithm.kind) + turn));
      const Cluster cluster = cluster_of_hosts(draws);
      const Layout layout{.channels = draws.one_of({1U, 2U}), .chunk = Elements{700}};
      const auto most = static_cast<std::uint32_t>(cluster.endpoints.size());
      const std::uint32_t ranks = most - draws.one_of({0U, 0U, 1U});
      const Collective collective = padded(algorithm, ranks, 9000, layout);
      if (algorithm.refuses(collective, layout)) { continue; }
      CAPTURE(algorithm.name);
      CAPTURE(name(algorithm.kind));
      CAPTURE(turn);
      CAPTURE(cluster.description);
      CAPTURE(ranks);
      const auto schedule = algorithm.make(collective, layout);
      const NodeCosts costs(*cluster.fabric);
      const Placement placement{
          {cluster.endpoints.begin(), cluster.endpoints.begin() + ranks}, 3, draws.one_of({1U, 1U, 2U})};
      if (schedule->agent_count().agents > ranks) { continue; }
      const Simulated all = simulate(*schedule, cluster, placement, costs, in_full());
      const Simulated part = simulate(*schedule, cluster, placement, costs, by_blocks());
      CHECK(part.time == all.time);
      CHECK(part.first_end == all.first_end);
      CHECK(loads(part, *cluster.fabric) == loads(all, *cluster.fabric));
      if (part.by_blocks) { ++folded; }
      if (part.by_blocks && part.lanes < part.all_lanes) { ++smaller; }
    }
  }
  CHECK(folded > 60);
  CHECK(smaller * 2 > folded);
}

TEST_CASE("calls that follow each other take as long when their classes are found node by node") {
  for (const auto& [kind, name] : {std::pair{CollectiveKind::broadcast, "ring"},
                                   {CollectiveKind::reduce, "ring"},
                                   {CollectiveKind::all_reduce, "double_binary_tree"}}) {
    for (std::uint64_t turn = 0; turn < 6; ++turn) {
      Draws draws(turn);
      const Drawn drawn = cluster_of(draws);
      const Layout layout{.channels = 2, .chunk = Elements{900}, .group = drawn.gpus};
      const Algorithm& algorithm = find(kind, name);
      const auto schedule = algorithm.make(padded(algorithm, drawn.nodes * drawn.gpus, 5000, layout), layout);
      const NodeCosts costs(*drawn.cluster.fabric);
      const Placement placement = place(drawn, schedule->agent_count(), 1);
      const CallLoop loop{5, 3_us};
      const SimulatedCalls all = simulate_calls(*schedule, drawn.cluster, placement, costs, in_full(), loop);
      const SimulatedCalls part = simulate_calls(*schedule, drawn.cluster, placement, costs, by_blocks(), loop);
      CAPTURE(algorithm.name);
      CAPTURE(turn);
      CHECK(part.end == all.end);
    }
  }
}

TEST_CASE("one cable within a node that is slower than its like is told from them") {
  const NodeSpec spec = [] {
    Draws draws(1);
    NodeSpec node = node_of(draws, 4);
    node.scale_up = NvSwitchSpec{{80_GBps, 80_GBps, 100_ns}};
    return node;
  }();
  ClosSpec network;
  network.hosts_per_leaf = 4;
  network.host_cable = network.up_cable = network.core_cable = {10_GBps, 10_GBps, 500_ns, Time::zero()};
  Cluster cluster = rail_optimized(nodes(8, spec), network);
  LinkOverride slower{.from = "node5/gpu2", .to = "node5/nvswitch0", .rate = 1_GBps};
  Problems problems;
  apply_overrides(cluster, {slower}, problems);
  REQUIRE(problems.empty());
  const Drawn drawn{std::move(cluster), 8, 4};
  const Algorithm& ring = find(CollectiveKind::all_reduce, "ring");
  const Layout layout{.channels = 2, .group = 4};
  const auto schedule = ring.make(padded(ring, 32, 100'000, layout), layout);
  const NodeCosts costs(*drawn.cluster.fabric);
  const Placement placement = place(drawn, schedule->agent_count(), 1);
  const Simulated all = simulate(*schedule, drawn.cluster, placement, costs, in_full());
  const Simulated part = simulate(*schedule, drawn.cluster, placement, costs, by_blocks());
  CHECK(part.by_blocks);
  CHECK(part.time == all.time);
  CHECK(loads(part, *drawn.cluster.fabric) == loads(all, *drawn.cluster.fabric));
}
