#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/schedule/concurrent.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "tests/models/padded_collective.hpp"
#include "tests/models/small_clusters.hpp"
#include "tests/models/uneven_tree.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

Simulated run(const Algorithm& algorithm, const Collective& collective, const Layout& layout, const Cluster& cluster,
              const CostModel& costs, const SimulationOptions& options) {
  const auto schedule = algorithm.make(collective, layout);
  const Placement placement{{cluster.endpoints.begin(), cluster.endpoints.begin() + collective.ranks}, 3};
  return simulate(*schedule, cluster, placement, costs, options);
}

Bytes carried(const Simulated& simulated) {
  Bytes sum;
  for (const LinkLoad& load : simulated.network.loads) { sum += load.carried * load.members; }
  return sum;
}

SimulationOptions everything() {
  SimulationOptions options;
  options.classes = options.repeat_loops = false;
  return options;
}

UniformCosts costs_of(SendEnd end, Bytes grain) {
  UniformCosts costs;
  costs.agent_cost = {300_ns, 200_GBps, 400_GBps, true};
  costs.connection_cost = {200_ns, 2_GBps, grain, end, 2_GBps};
  costs.slot_count = 3;
  return costs;
}

}  // namespace

TEST_CASE("for every algorithm, multiplying the steps of long loops changes no result") {
  const Cluster clusters[] = {star(90, 5_GBps, 1_us), square_fat_tree(10, 3_GBps, 400_ns), uneven_tree(10)};
  for (const Algorithm& algorithm : catalog()) {
    for (const Layout& layout : {Layout{}, Layout{2, Elements{1500}, 2}}) {
      const Collective collective = padded(algorithm, 90, 27'000, layout);
      if (algorithm.engine != Engine::none || algorithm.refuses(collective, layout)) { continue; }
      for (const Cluster& cluster : clusters) {
        const UniformCosts costs = costs_of(SendEnd::injected, 0_B);
        const Simulated whole = run(algorithm, collective, layout, cluster, costs, everything());
        for (const bool classes : {false, true}) {
          CAPTURE(algorithm.name);
          CAPTURE(name(algorithm.kind));
          CAPTURE(layout.channels);
          CAPTURE(classes);
          SimulationOptions some;
          some.classes = classes;
          const Simulated part = run(algorithm, collective, layout, cluster, costs, some);
          CHECK(part.time == whole.time);
          CHECK(carried(part) == carried(whole));
        }
      }
    }
  }
}

TEST_CASE("a ring is simulated until its steps are equal, however many there are, and all of it counts") {
  const Cluster cluster = star(600, 5_GBps, 1_us);
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    for (const SendEnd end : {SendEnd::copied, SendEnd::paced, SendEnd::injected, SendEnd::delivered}) {
      for (const Bytes grain : {0_B, 1_KiB}) {
        CAPTURE(name(kind));
        CAPTURE(grain);
        const Algorithm& ring = find(kind, "ring");
        const Collective collective = padded(ring, 600, 600'000, {});
        const UniformCosts costs = costs_of(end, grain);
        const Simulated whole = run(ring, collective, {}, cluster, costs, everything());
        const Simulated part = run(ring, collective, {}, cluster, costs, {});
        CHECK(part.time == whole.time);
        CHECK(carried(part) == carried(whole));
        CHECK(whole.skipped_steps == 0);
        CHECK(part.skipped_steps > 450);
      }
    }
  }
}

// Each of two rings keeps its own pace, and so the state of both together never comes back.
TEST_CASE("steps that have settled but for an error are multiplied where the user allows it, within that error") {
  const Cluster cluster = star(1200, 5_GBps, 1_us);
  const Algorithm& ring = find(CollectiveKind::all_gather, "ring");
  const UniformCosts costs = costs_of(SendEnd::injected, 1_KiB);
  const auto simulated = [&](Ratio error) {
    std::vector<ConcurrentPart> parts;
    for (std::uint32_t job = 0; job < 2; ++job) {
      std::vector<std::uint32_t> ranks;
      for (std::uint32_t rank = 0; rank < 600; ++rank) { ranks.push_back(600 * job + rank); }
      parts.push_back(
          {ring.make({CollectiveKind::all_gather, 600, Elements{std::int64_t{600} * (20'000 + 20 * job)}}, {}), ranks});
    }
    SimulationOptions options;
    options.skip_error = error;
    const auto both = concurrent(std::move(parts), 1200);
    return simulate(*both, cluster, {cluster.endpoints, 3}, costs, options);
  };
  const Simulated exact = simulated({0, 1});
  CHECK(exact.skipped_steps == 0);
  CHECK(exact.settled.steps == 0);
  for (const Ratio error : {Ratio{1, 100}, Ratio{1, 20}}) {
    const Simulated settled = simulated(error);
    CHECK(settled.settled.steps > 100);
    CHECK(settled.settled.steps == settled.skipped_steps);
    CHECK(seconds(settled.time) == doctest::Approx(seconds(exact.time)).epsilon(to_double(error)));
  }
  CHECK(simulated({1, 1'000'000}).settled.steps == 0);  // one step of a million is more than there are
}

// Links that several of a tree's connections fill leave no two ranks alike, and no state comes back.
TEST_CASE("loops that have settled but for an error are multiplied where the user allows it, within that error") {
  const Cluster clusters[] = {star(23, 5_GBps, 1_us), square_fat_tree(5, 3_GBps, 400_ns)};
  const UniformCosts costs = costs_of(SendEnd::injected, 0_B);
  std::uint64_t multiplied = 0;
  for (const Algorithm& algorithm : catalog()) {
    const Layout layout{2, Elements{1500}, 2};
    const Collective collective = padded(algorithm, 23, 2'000'000, layout);
    if (!algorithm.pipelines || algorithm.engine != Engine::none || algorithm.refuses(collective, layout)) { continue; }
    for (const Cluster& cluster : clusters) {
      CAPTURE(algorithm.name);
      CAPTURE(name(algorithm.kind));
      const Simulated exact = run(algorithm, collective, layout, cluster, costs, {});
      CHECK_FALSE(exact.settled.any());
      for (const Ratio error : {Ratio{1, 100}, Ratio{1, 20}}) {
        SimulationOptions options;
        options.skip_error = error;
        const Simulated settled = run(algorithm, collective, layout, cluster, costs, options);
        CHECK(settled.settled.loops <= settled.skipped_loops);
        CHECK(seconds(settled.time) == doctest::Approx(seconds(exact.time)).epsilon(to_double(error)));
        CHECK(static_cast<double>(carried(settled).count()) ==
              doctest::Approx(static_cast<double>(carried(exact).count())).epsilon(to_double(error)));
        multiplied += settled.settled.loops;
      }
    }
  }
  CHECK(multiplied > 500);
}
