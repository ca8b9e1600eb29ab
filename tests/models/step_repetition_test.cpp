#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
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
        CHECK((part.events == 0 || part.skipped_steps > 500));  // without a shared link there are no events
      }
    }
  }
}
