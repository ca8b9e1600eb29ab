#include <map>
#include <string>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/schedule/concurrent.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "models/network/link_use.hpp"
#include "tests/models/padded_collective.hpp"
#include "tests/models/small_clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators/overrides.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

/// One host's cables are slower and longer than those of the others.
Cluster with_a_slow_host() {
  Cluster cluster = square_fat_tree(4, 3_GBps, 400_ns);
  LinkOverride out{.from = "host5", .to = "leaf1", .rate = 1_GBps};
  LinkOverride in{.from = "leaf1", .to = "host6", .latency = 5_us};
  Problems problems;
  apply_overrides(cluster, {out, in}, problems);
  REQUIRE(problems.empty());
  return cluster;
}

Simulated run(const Algorithm& algorithm, const Collective& collective, const Layout& layout, const Cluster& cluster,
              const CostModel& costs, bool with_events) {
  const auto schedule = algorithm.make(collective, layout);
  SimulationOptions options;
  if (with_events) { options.classes = options.repeat_loops = false; }
  const Placement placement{{cluster.endpoints.begin(), cluster.endpoints.begin() + collective.ranks}, 3};
  return simulate(*schedule, cluster, placement, costs, options);
}

/// By all links of each kind.
std::map<std::string, Bytes> carried(const Simulated& simulated, const Fabric& fabric) {
  std::map<std::string, Bytes> sums;
  for (const LinkLoad& load : simulated.network.loads) {
    sums[link_class(fabric, load.link)] += load.carried * load.members;
  }
  return sums;
}

/// Of what a schedule and its costs may be, by turns.
UniformCosts costs_of(std::uint32_t turn) {
  UniformCosts costs;
  costs.connection_cost.latency = Time{200'000} * (turn % 2);
  costs.connection_cost.end = static_cast<SendEnd>(turn % 4);
  costs.connection_cost.injection_rate = turn % 3 == 0 ? Bandwidth::max() : 4_GBps;
  if (turn % 5 > 1) { costs.connection_cost.cap = 2_GBps; }
  if (turn % 3 > 0) { costs.connection_cost.wire_numerator = 17, costs.connection_cost.wire_denominator = 16; }
  if (turn % 4 > 0) { costs.agent_cost = {300_ns, 7_GBps, 11_GBps, turn % 4 > 1, 13_GBps}; }
  costs.slot_count = 3 + turn % 3 * 2;
  return costs;
}

}  // namespace

TEST_CASE("where no connections share a link, the times are those of events, to the picosecond") {
  const Cluster clusters[] = {with_a_slow_host(), star(16, 5_GBps, 1_us)};
  std::uint32_t cases = 0;
  std::uint32_t without_events = 0;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.engine != Engine::none) { continue; }
    for (std::uint32_t turn = 0; turn < 12; ++turn) {
      const Layout layout{.channels = 1 + turn / 6, .slices = 1 + turn % 2};
      const std::uint32_t ranks = turn % 3 == 0 ? 9 : 16;
      const Collective collective = padded(algorithm, ranks, 48'000, layout);
      if (algorithm.refuses(collective, layout)) { continue; }
      const UniformCosts costs = costs_of(turn);
      for (const Cluster& cluster : clusters) {
        const Simulated events = run(algorithm, collective, layout, cluster, costs, true);
        const Simulated other = run(algorithm, collective, layout, cluster, costs, false);
        CAPTURE(algorithm.name);
        CAPTURE(name(algorithm.kind));
        CAPTURE(turn);
        CHECK(other.time == events.time);
        CHECK(other.first_end == events.first_end);
        CHECK(carried(other, *cluster.fabric) == carried(events, *cluster.fabric));
        ++cases;
        if (other.events == 0 && ranks > 1) { ++without_events; }
      }
    }
  }
  MESSAGE(cases, " cases, ", without_events, " of them without events");
  CHECK(without_events > 50);
}

TEST_CASE("steps of long rings that repeat are multiplied without events, to the picosecond") {
  Cluster uneven = star(160, 5_GBps, 1_us);
  Problems problems;
  apply_overrides(uneven, {{.from = "host5", .to = "leaf0", .rate = 3_GBps, .latency = 9_us}}, problems);
  REQUIRE(problems.empty());
  const Cluster clusters[] = {star(160, 5_GBps, 1_us), uneven};
  std::uint32_t multiplied = 0;
  for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    const Algorithm& ring = find(kind, "ring");
    for (std::uint32_t turn = 0; turn < 12; ++turn) {
      const Layout layout{.slices = 1 + turn % 3};
      const Collective collective{kind, 160, Elements{160 * (turn < 6 ? 40 : 20'000)}};
      for (const Cluster& cluster : clusters) {
        CAPTURE(name(kind));
        CAPTURE(turn);
        const Simulated events = run(ring, collective, layout, cluster, costs_of(turn), true);
        const Simulated other = run(ring, collective, layout, cluster, costs_of(turn), false);
        CHECK(other.time == events.time);
        CHECK(other.first_end == events.first_end);
        CHECK(carried(other, *cluster.fabric) == carried(events, *cluster.fabric));
        if (other.events == 0 && other.skipped_steps > 0) { ++multiplied; }
      }
    }
  }
  MESSAGE(multiplied, " of 72 cases multiply steps without events");
  CHECK(multiplied > 30);
}

TEST_CASE("jobs that begin at times of their own need no events either, and many loops none where they are short") {
  const Cluster cluster = star(16, 5_GBps, 1_us);
  const Algorithm& ring = find(CollectiveKind::all_reduce, "ring");
  const UniformCosts costs = costs_of(7);
  for (const Elements count : {Elements{1 << 12}, Elements{1 << 20}}) {
    const auto simulated = [&](bool with_events) {
      std::vector<ConcurrentPart> parts;
      SimulationOptions options;
      for (std::uint32_t job = 0; job < 2; ++job) {
        std::vector<std::uint32_t> ranks;
        for (std::uint32_t rank = 0; rank < 8; ++rank) { ranks.push_back(2 * rank + job); }
        parts.push_back({ring.make({CollectiveKind::all_reduce, 8, count}, Layout{.chunk = Elements{1 << 9}}), ranks});
        options.jobs.starts.push_back({Time{job * 7'000'000}, {}});
      }
      if (with_events) { options.classes = options.repeat_loops = false; }
      for (std::uint32_t agent = 0; agent < 16; ++agent) { options.jobs.of_agents.push_back(agent % 2); }
      const auto schedule = concurrent(std::move(parts), 16);
      return simulate(*schedule, cluster, {cluster.endpoints, 3}, costs, options);
    };
    const Simulated events = simulated(true);
    const Simulated other = simulated(false);
    CHECK(events.events > 0);
    CHECK(other.events == 0);
    CHECK(other.time == events.time);
    CHECK(other.ends == events.ends);
    CHECK(other.ends.back() == other.ends.front() + 7_us);
  }
}
