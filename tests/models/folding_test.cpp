#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "tests/models/padded_collective.hpp"
#include "tests/models/small_clusters.hpp"
#include "tests/models/uneven_tree.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

/// Engines sit on the device next to the first endpoint.
Placement place(const Cluster& cluster, const AgentCount& agent_count) {
  Placement placement{{cluster.endpoints.begin(), cluster.endpoints.begin() + agent_count.ranks}, 3};
  const LinkId first{cluster.fabric->out(cluster.endpoints.front()).first};
  placement.vertices.resize(agent_count.agents, cluster.fabric->target(first));
  return placement;
}

Cluster nvswitch_node() {
  NodeSpec spec;
  spec.name = "eight GPUs on an NVSwitch";
  spec.gpus = 8;
  spec.scale_up = NvSwitchSpec{{8_GBps, 8_GBps, 100_ns}};
  spec.sockets = 1;
  spec.pcie_link = {1_GBps, 1_GBps, 100_ns};
  spec.pcie = {{0, false, {0, 1, 2, 3, 4, 5, 6, 7}, {}}};
  return single_node(spec);
}

/// Nodes of four GPUs, each with a NIC, of which NIC r of every node is on rail r.
Cluster rails(std::uint32_t count) {
  NodeSpec spec;
  spec.name = "four GPUs with a NIC each";
  spec.gpus = spec.nics = 4;
  spec.scale_up = NvSwitchSpec{{80_GBps, 80_GBps, 100_ns}};
  spec.pcie_link = {100_GBps, 100_GBps, 250_ns};
  spec.nic.rate = 10_GBps;
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) { spec.pcie.push_back({0, true, {gpu}, {gpu}}); }
  ClosSpec network;
  network.hosts_per_leaf = count;
  network.host_cable = network.up_cable = network.core_cable = {10_GBps, 10_GBps, 500_ns, Time::zero()};
  return rail_only(nodes(count, spec), network);
}

/// Four ways in pairs, of which each enters a node at another GPU and the other goes back; odd nodes swap the pairs, so
/// that every hop between nodes stays on a rail.
Layout along_rails(std::uint32_t channels) {
  const std::vector<std::vector<std::uint32_t>> ways{{0, 3, 2, 1}, {1, 2, 3, 0}, {2, 1, 0, 3}, {3, 0, 1, 2}};
  Layout layout{.channels = channels, .chunk = Elements{2000}, .slices = 2, .group = 4};
  layout.orders = std::make_shared<ChannelOrders>(ChannelOrders{ways, {ways[1], ways[0], ways[3], ways[2]}});
  return layout;
}

Simulated run(const Algorithm& algorithm, const Collective& collective, const Layout& layout, const Cluster& cluster,
              const CostModel& costs, const SimulationOptions& options) {
  const auto schedule = algorithm.make(collective, layout);
  return simulate(*schedule, cluster, place(cluster, schedule->agent_count()), costs, options);
}

UniformCosts contended() {
  UniformCosts costs;
  costs.agent_cost = {300_ns, 200_GBps, 400_GBps, true};
  costs.connection_cost.latency = 200_ns;
  costs.connection_cost.end = SendEnd::injected;
  costs.slot_count = 3;
  return costs;
}

}  // namespace

TEST_CASE("for every algorithm, one of each class takes as long as all, loops multiplied or not") {
  const UniformCosts costs = contended();
  const Cluster trees[] = {square_fat_tree(4, 3_GBps, 400_ns), star(16, 5_GBps, 1_us), uneven_tree(4)};
  for (const Algorithm& algorithm : catalog()) {
    for (const std::uint32_t ranks : {1U, 2U, 5U, 8U, 16U}) {
      for (const Layout& layout : {Layout{}, Layout{2, Elements{1500}, 2}}) {
        const Collective collective = padded(algorithm, ranks, 48'000, layout);
        if (algorithm.engine != Engine::none || algorithm.refuses(collective, layout)) { continue; }
        for (const Cluster& cluster : trees) {
          CAPTURE(algorithm.name);
          CAPTURE(ranks);
          CAPTURE(layout.channels);
          SimulationOptions whole;
          whole.classes = whole.repeat_loops = false;
          const Time expected = run(algorithm, collective, layout, cluster, costs, whole).time;
          for (const bool classes : {false, true}) {
            SimulationOptions part;
            part.classes = classes;
            CHECK(run(algorithm, collective, layout, cluster, costs, part).time == expected);
          }
        }
      }
    }
  }
}

TEST_CASE("the same holds for engines, of whose lanes those of one duty are one class for all heads and channels") {
  UniformCosts costs = contended();
  costs.slot_count = 1;
  const Cluster cluster = nvswitch_node();
  const Algorithm& nvls = find(CollectiveKind::all_reduce, "nvls");
  for (const std::uint32_t ranks : {2U, 3U, 8U}) {
    const Layout layout{2, Elements{1000}};
    const Collective collective = padded(nvls, ranks, 200'000, layout);
    SimulationOptions whole;
    whole.classes = whole.repeat_loops = false;
    const Simulated all = run(nvls, collective, layout, cluster, costs, whole);
    const Simulated part = run(nvls, collective, layout, cluster, costs, {});
    CAPTURE(ranks);
    CHECK(part.time == all.time);
    CHECK(part.lanes == 5);
    CHECK((part.skipped_loops > 0 || ranks != 8));  // eight heads in step settle into equal loops
  }
}

TEST_CASE("contention never makes a collective faster than the ideal network does") {
  const UniformCosts costs = contended();
  const Cluster cluster = square_fat_tree(3, 3_GBps, 400_ns);
  for (const Algorithm& algorithm : catalog()) {
    const Collective collective = padded(algorithm, 9, 90'000, {});
    if (algorithm.engine != Engine::none || algorithm.refuses(collective, {})) { continue; }
    CAPTURE(algorithm.name);
    SimulationOptions ideal;
    ideal.level = NetworkLevel::ideal;
    CHECK(run(algorithm, collective, {}, cluster, costs, {}).time >=
          run(algorithm, collective, {}, cluster, costs, ideal).time);
  }
}

TEST_CASE("equal ranks on one switch are one class") {
  const Cluster cluster = star(12, 5_GBps, 1_us);
  for (const auto& [kind, name] : {std::pair{CollectiveKind::all_reduce, "ring"},
                                   {CollectiveKind::all_gather, "ring"},
                                   {CollectiveKind::reduce_scatter, "ring"},
                                   {CollectiveKind::all_to_all, "pairwise"}}) {
    const Algorithm& algorithm = find(kind, name);
    CAPTURE(algorithm.name);
    CHECK(run(algorithm, padded(algorithm, 12, 1200, {}), {}, cluster, contended(), {}).lanes == 1);
  }
}

TEST_CASE("rings along rails fold to as many classes on many nodes as on four, and take as long as all of them") {
  for (const auto& [kind, name] : {std::pair{CollectiveKind::all_reduce, "ring"},
                                   {CollectiveKind::all_gather, "ring"},
                                   {CollectiveKind::reduce_scatter, "ring"}}) {
    const Algorithm& algorithm = find(kind, name);
    CAPTURE(algorithm.name);
    const Layout layout = along_rails(8);
    const auto of = [&](std::uint32_t count, const SimulationOptions& options) {
      return run(algorithm, padded(algorithm, 4 * count, 100'000, layout), layout, rails(count), contended(), options);
    };
    SimulationOptions whole;
    whole.classes = whole.repeat_loops = false;
    const Simulated few = of(4, {});
    CHECK(few.time == of(4, whole).time);
    CHECK(few.lanes == 4);  // one for each place on the way through a node
    CHECK(of(32, {}).lanes == few.lanes);
  }
}

TEST_CASE("rounds on rails fold to the lanes of one rank, and take as long as all of them") {
  for (const char* const name : {"rounds", "rounds_by_rail"}) {
    const Algorithm& algorithm = find(CollectiveKind::all_to_all, name);
    CAPTURE(algorithm.name);
    const Layout layout{.channels = 4, .chunk = Elements{600}, .group = 4, .shape = PeerRoundShape{.parts = 2}};
    const auto of = [&](std::uint32_t count, const SimulationOptions& options) {
      return run(algorithm, padded(algorithm, 4 * count, 20'000, layout), layout, rails(count), contended(), options);
    };
    SimulationOptions whole;
    whole.classes = whole.repeat_loops = false;
    const Simulated few = of(4, {});
    CHECK(few.time == of(4, whole).time);
    // All ranks are alike, so that at most the lanes of one are left.
    const std::uint32_t of_one = algorithm.make({algorithm.kind, 64, Elements{64 * 600}}, layout)->lanes(AgentId{0});
    CHECK(few.lanes <= of_one);
    CHECK(of(16, {}).lanes <= of_one);
    CHECK(of(16, {}).lanes == of(8, {}).lanes);
  }
}

TEST_CASE("a link that is overridden slows those that cross it, and is told from its equals") {
  const Algorithm& ring = find(CollectiveKind::all_reduce, "ring");
  const Collective collective = padded(ring, 16, 480'000, {});
  const Simulated even = run(ring, collective, {}, square_fat_tree(4, 3_GBps, 400_ns), contended(), {});
  const Simulated uneven = run(ring, collective, {}, uneven_tree(4), contended(), {});
  CHECK(even.lanes < uneven.lanes);
  // Every chunk of the ring crosses the slow cable or waits for one that does.
  CHECK(uneven.time > even.time * 2);
}

TEST_CASE("a parameter server is limited by the link of the rank that serves") {
  UniformCosts costs;
  const Bandwidth rate = 10_GBps;
  const Bytes size = 4_MiB;
  for (const std::uint32_t ranks : {2U, 5U, 16U}) {
    const Cluster cluster = star(ranks, rate, 500_ns);
    const Algorithm& server = find(CollectiveKind::all_reduce, "parameter_server");
    const Collective collective{CollectiveKind::all_reduce, ranks, Elements{size.count() / 4}};
    // All send at once and share the server's link; it answers all at once over its link the other way.
    const Time one_way = 1_us + transfer_time(size * (ranks - 1), rate);
    CAPTURE(ranks);
    const Time time = run(server, collective, {}, cluster, costs, {}).time;
    CHECK(time >= one_way * 2);
    CHECK(time <= one_way * 2 + 10_ps);  // a fair share that is no whole number of units of rate is rounded down
  }
}
