#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/engines/trees/aggregation_manager.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/run.hpp"
#include "models/execution/simulate.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "tests/models/small_clusters.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"
#include "topologies/generators/overrides.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

using enum CollectiveKind;

constexpr Time kHop = 1_us;
constexpr Bandwidth kRate = 10_GBps;

/// `tiers` of switches of eight ports, full.
Cluster tree_of(std::uint32_t tiers, std::uint32_t hosts_count) {
  ClosSpec spec;
  spec.tiers = tiers;
  spec.radix = 8;
  spec.host_cable = spec.up_cable = spec.core_cable = {kRate, kRate, kHop, Time::zero()};
  if (tiers == 1) { return star(hosts(hosts_count), spec.host_cable); }
  return fat_tree(hosts(hosts_count), spec, {.routing = Routing::ecmp});
}

PlacedTree placed(const Cluster& cluster, const EngineLimits& limits = {}) {
  return build_aggregation_tree(*cluster.fabric, cluster.endpoints, limits);
}

std::vector<std::string> names(const Cluster& cluster, const PlacedTree& tree) {
  std::vector<std::string> names;
  for (const VertexId vertex : tree.switches) { names.push_back(cluster.fabric->name(vertex)); }
  return names;
}

RunResult run(const Cluster& cluster, CollectiveKind kind, std::int64_t elements, Overrides overrides = {}) {
  const Profile ideal;
  const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
  const Collective collective{kind, ranks, Elements{elements}};
  if (!overrides.chunk) { overrides.chunk = Bytes{4} * std::max<std::int64_t>(elements, 1); }
  return run_collective(
      {.cluster = cluster,
       .profile = ideal,
       .collective = collective,
       .algorithms = {&find(kind, "aggregation_tree")},
       .overrides = overrides,
       .options = {},
       .aggregation = std::make_shared<const EngineDeployment>(EngineDeployment{engine_catalog().front(), {}})});
}

void override_link(Cluster& cluster, const std::string& from, const std::string& to) {
  Problems problems;
  apply_overrides(cluster, {{.from = from, .to = to, .both_ways = true, .down = true}}, problems);
  REQUIRE(problems.empty());
}

std::string code_of(const Cluster& cluster, const EngineLimits& limits = {}) {
  try {
    placed(cluster, limits);
  } catch (const SimulationError& error) { return error.code(); }
  return "";
}

}  // namespace

TEST_CASE("an aggregation tree has as many levels as the switches between the ranks that are farthest apart") {
  CHECK(placed(tree_of(1, 6)).tree->depth() == 1);
  const Cluster two = tree_of(2, 32);
  const PlacedTree below_spine = placed(two);
  CHECK(below_spine.tree->depth() == 2);
  CHECK(below_spine.tree->nodes() == 8 + 1);
  CHECK(names(two, below_spine).front() == "spine0");
  const PlacedTree below_core = placed(tree_of(3, 128));
  CHECK(below_core.tree->depth() == 3);
  CHECK(below_core.tree->nodes() == 32 + 8 + 1);
  const Cluster cluster = tree_of(3, 128);
  const std::span<const VertexId> one_leaf(cluster.endpoints.data(), 4);
  CHECK(build_aggregation_tree(*cluster.fabric, one_leaf).tree->nodes() == 1);
}

TEST_CASE("a tree is built round links that are down, and refused where a switch takes fewer children") {
  Cluster cluster = tree_of(2, 32);
  override_link(cluster, "leaf3", "spine0");
  CHECK(names(cluster, placed(cluster)).front() == "spine1");
  CHECK(code_of(tree_of(2, 32), {.children = 7}) == "aggregation-radix");
  CHECK(code_of(tree_of(2, 32), {.children = 8}).empty());
}

TEST_CASE("where no switch is next to a rank, or none reaches all ranks, nothing aggregates") {
  NodeSpec spec;
  spec.name = "two GPUs";
  spec.gpus = 2;
  spec.scale_up = NvSwitchSpec{{100_GBps, 100_GBps, 100_ns}};
  spec.pcie_link = {10_GBps, 10_GBps, 100_ns};
  spec.pcie = {{0, true, {0, 1}, {}}};
  CHECK(code_of(single_node(spec)) == "no-switch");
  spec.nics = 2;
  spec.nic.rate = kRate;
  spec.pcie = {{0, true, {0}, {0}}, {0, true, {1}, {1}}};
  ClosSpec rails;
  rails.host_cable = rails.up_cable = rails.core_cable = {kRate, kRate, kHop, Time::zero()};
  CHECK(code_of(rail_only(nodes(3, spec), rails)) == "no-common-root");
}

// The law: h hops up and h down, each a message of the payload, where one chunk carries all of it; k chunks follow each
// other on the wire. Latency grows with the levels of the tree, not with the ranks.
TEST_CASE("in a tree of h levels an all-reduce takes 2h latencies and 2h + k - 1 transfers of a k-th of the payload") {
  for (std::uint32_t tiers = 1; tiers <= 3; ++tiers) {
    const Cluster cluster = tree_of(tiers, tiers == 1 ? 8 : tiers == 2 ? 32 : 128);
    for (const std::int64_t elements : {0, 1000, 1'000'000}) {
      for (const std::int64_t chunks : {1, 10}) {
        if (elements == 0 && chunks > 1) { continue; }
        const Bytes chunk = Bytes{4} * elements / chunks;
        Overrides overrides;
        overrides.chunk = std::max(chunk, Bytes{4});
        const Time law = kHop * (2 * tiers) + transfer_time(chunk, kRate) * (2 * tiers + chunks - 1);
        CAPTURE(tiers);
        CAPTURE(elements);
        CAPTURE(chunks);
        CHECK(run(cluster, all_reduce, elements, overrides).time == law);
        CHECK(run(cluster, broadcast, elements, overrides).time == law);
        CHECK(run(cluster, reduce, elements, overrides).time == law);
      }
    }
    CHECK(run(cluster, barrier, 0).time == kHop * (2 * tiers));
  }
}

// Blocks follow each other through the top of the tree, which each rank reaches in h messages.
TEST_CASE("in h levels a reduce-scatter or all-gather over P ranks takes 2h latencies and 2h + P - 1 transfers") {
  for (std::uint32_t tiers = 1; tiers <= 3; ++tiers) {
    const std::int64_t ranks = tiers == 1 ? 8 : tiers == 2 ? 32 : 128;
    const Cluster cluster = tree_of(tiers, static_cast<std::uint32_t>(ranks));
    for (const std::int64_t each : {0, 100, 10'000}) {
      CAPTURE(tiers);
      CAPTURE(each);
      const Time transfer = transfer_time(Bytes{4} * each, kRate);
      const Time expected = kHop * (2 * tiers) + transfer * (2 * tiers + ranks - 1);
      CHECK(run(cluster, reduce_scatter, each * ranks).time == expected);
      CHECK(run(cluster, all_gather, each * ranks).time == expected);
    }
  }
}

TEST_CASE("a rank sends the payload and receives a block in a reduce-scatter, and the reverse in an all-gather") {
  const Cluster cluster = tree_of(2, 32);
  const Bytes each{4'000};
  const auto carried = [&](CollectiveKind kind, bool out) {
    std::vector<Bytes> bytes;
    const RunResult result = run(cluster, kind, 32'000);
    for (const LinkLoad& load : result.simulated.network.loads) {
      const Fabric& fabric = *cluster.fabric;
      const VertexId end = out ? fabric.source(load.link) : fabric.target(load.link);
      if (fabric.vertex(end).kind == VertexKind::host) { bytes.insert(bytes.end(), load.members, load.carried); }
    }
    return bytes;
  };
  CHECK(carried(reduce_scatter, true) == std::vector<Bytes>(32, each * 32));
  CHECK(carried(reduce_scatter, false) == std::vector<Bytes>(32, each));
  CHECK(carried(all_gather, true) == std::vector<Bytes>(32, each));
  CHECK(carried(all_gather, false) == std::vector<Bytes>(32, each * 32));
}

namespace {

/// The time of an all-reduce in so many chunks with a window, on hosts below one or two tiers of switches.
Time windowed(std::uint32_t tiers, std::int64_t chunks, std::int64_t each, std::uint32_t window, SendEnd end,
              bool repeat) {
  const Cluster cluster = tree_of(tiers, tiers == 1 ? 8 : 32);
  const PlacedTree tree = placed(cluster);
  const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
  Layout layout{.chunk = Elements{each}};
  layout.shape = EngineTreeShape{.trees = {tree.tree}, .outstanding = window};
  const Collective collective{all_reduce, ranks, Elements{each * chunks}};
  const auto schedule = find(all_reduce, "aggregation_tree").make(collective, layout);
  Placement placement{cluster.endpoints};
  placement.vertices.insert(placement.vertices.end(), tree.switches.begin(), tree.switches.end());
  testing::UniformCosts costs;
  costs.connection_cost.end = end;
  costs.slot_count = 64;
  SimulationOptions options;
  options.repeat_loops = repeat;
  return simulate(*schedule, cluster, placement, costs, options).time;
}

}  // namespace

// The law: chunk j starts a period after chunk j - 1, and a round trip after chunk j - W. So W chunks take the longer
// of W periods and a round trip, and k chunks (k - 1) / W such windows, the rest at its pace, and the last round trip.
// A period is what a send keeps its rank for: the transfer, or, until it is delivered, the whole message.
TEST_CASE("with W chunks outstanding, W of them take W periods or a round trip, whichever is longer") {
  const std::int64_t each = 1000;
  const Time transfer = transfer_time(Bytes{4} * each, kRate);
  for (const SendEnd end : {SendEnd::delivered, SendEnd::injected}) {
    const Time period = end == SendEnd::injected ? transfer : transfer + kHop;
    for (const std::uint32_t tiers : {1U, 2U}) {
      const Time round_trip = (transfer + kHop) * (2 * tiers);
      for (const std::uint32_t window : {1U, 2U, 3U, 4U, 7U, 16U, 40U}) {
        for (const std::int64_t chunks : {1, 2, 5, 16, 33, 200}) {
          CAPTURE(tiers);
          CAPTURE(window);
          CAPTURE(chunks);
          const Time per_window = std::max(period * window, round_trip);
          const Time last_start = per_window * ((chunks - 1) / window) + period * ((chunks - 1) % window);
          CHECK(windowed(tiers, chunks, each, window, end, true) == last_start + round_trip);
          CHECK(windowed(tiers, chunks, each, window, end, false) == last_start + round_trip);
        }
      }
      CHECK(windowed(tiers, 50, each, 0, end, true) == period * 49 + round_trip);
    }
  }
}

TEST_CASE("every rank sends and receives the payload once, half of what it does in a ring") {
  const Cluster cluster = tree_of(2, 32);
  const RunResult result = run(cluster, all_reduce, 1'000'000);
  for (const LinkLoad& load : result.simulated.network.loads) { CHECK(load.carried <= Bytes{4'000'000}); }
  CHECK(result.bound.time <= result.time);
}

TEST_CASE("simulating one of equal agents and multiplying loops changes no time of an aggregation tree") {
  const Cluster cluster = tree_of(2, 32);
  for (const CollectiveKind kind : {all_reduce, reduce, broadcast, reduce_scatter, all_gather}) {
    CAPTURE(std::string(name(kind)));
    const Profile ideal;
    const auto time = [&](bool fast) {
      SimulationOptions options;
      options.classes = options.repeat_loops = fast;
      Overrides overrides;
      overrides.chunk = 4_KiB;
      overrides.channels = 2;
      const Collective collective{kind, 32, Elements{320'000}};
      return run_collective({.cluster = cluster,
                             .profile = ideal,
                             .collective = collective,
                             .algorithms = {&find(kind, "aggregation_tree")},
                             .overrides = overrides,
                             .options = options,
                             .aggregation = std::make_shared<const EngineDeployment>(
                                 EngineDeployment{engine_catalog().front(), {}})})
          .time;
    };
    CHECK(time(true) == time(false));
  }
}

// The children of a switch are told apart by nothing but their port, and a sum takes all of them: up and down of the
// ranks, up and down of the leaves, and the top.
TEST_CASE("equal branches of a tree are simulated once, and its loops multiplied, with the results of all of it") {
  const Cluster cluster = tree_of(2, 32);
  const Profile ideal;
  for (const char* engine : {"ideal", "sharp_v1", "sharp_v3"}) {
    const auto engines = std::make_shared<const EngineDeployment>(EngineDeployment{find_engine(engine), {}});
    const Collective collective{all_reduce, 32, Elements{4'000'000}};
    const auto with = [&](const SimulationOptions& options) {
      return run_collective({.cluster = cluster,
                             .profile = ideal,
                             .collective = collective,
                             .algorithms = {&find(all_reduce, "aggregation_tree")},
                             .overrides = {},
                             .options = options,
                             .aggregation = engines});
    };
    SimulationOptions unfolded;
    unfolded.classes = unfolded.repeat_loops = false;
    CAPTURE(engine);
    const RunResult part = with({});
    const RunResult all = with(unfolded);
    CHECK(part.time == all.time);
    CHECK(part.simulated.lanes == 5);
    CHECK(
        (part.simulated.skipped_loops > 0 || part.simulated.events == 0));  // which settle at once what shares nothing
    CHECK(all.simulated.lanes == 2 * 32 + 2 * 8 + 1);
    Bytes carried;
    for (const LinkLoad& load : all.simulated.network.loads) { carried += load.carried; }
    Bytes folded;
    for (const LinkLoad& load : part.simulated.network.loads) { folded += load.carried * load.members; }
    CHECK(folded == carried);
  }
}

TEST_CASE("switches aggregate only where the scenario says so") {
  const Cluster cluster = tree_of(2, 32);
  const Collective collective{all_reduce, 32, Elements{1000}};
  const Profile ideal;
  try {
    run_collective({.cluster = cluster,
                    .profile = ideal,
                    .collective = collective,
                    .algorithms = {&find(all_reduce, "aggregation_tree")},
                    .overrides = {},
                    .options = {}});
    FAIL("ran");
  } catch (const SimulationError& error) {
    CHECK(error.code() == "no-candidate");
    CHECK(std::string(error.what()).find("no switch of the network aggregates") != std::string::npos);
  }
}
