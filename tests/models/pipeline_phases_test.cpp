#include "models/execution/pipeline_phases.hpp"

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/simulate.hpp"
#include "tests/models/small_clusters.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

constexpr Time kAlpha = 1_us;
const Bandwidth kRate{10'000'000'000};

/// Runs a ring algorithm in chunks of `piece` elements, and returns how long it takes.
Time run(CollectiveKind kind, std::uint32_t ranks, std::int64_t count, std::int64_t piece, PipelinePhases& phases) {
  const Cluster cluster = star(ranks, kRate, kAlpha / 2);
  Layout layout;
  layout.chunk = Elements{piece};
  SimulationOptions options;
  options.listener = &phases;
  const auto schedule = find(kind, "ring").make({kind, ranks, Elements{count}}, layout);
  const Placement placement{{cluster.endpoints.begin(), cluster.endpoints.begin() + ranks}, 1};
  return simulate(*schedule, cluster, placement, UniformCosts(), options).time;
}

}  // namespace

TEST_CASE("a broadcast of C chunks along P ranks fills in P - 1 hops and drains when the root has sent C") {
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
    for (const std::int64_t chunks : {1, 2, 7, 40}) {
      CAPTURE(ranks);
      CAPTURE(chunks);
      PipelinePhases phases;
      const std::int64_t elements = 10'000;
      const Time step = kAlpha + transfer_time(Bytes{elements * 4}, kRate);
      const Time total = run(CollectiveKind::broadcast, ranks, elements * chunks, elements, phases);
      CHECK(total == step * (chunks + ranks - 2));
      CHECK(phases.filled() == step * (ranks - 1));
      CHECK(phases.draining() == step * std::max<std::int64_t>(chunks, ranks - 1));
    }
  }
}

TEST_CASE("a ring all-reduce of one loop is full after two steps and drains with its last send") {
  for (std::uint32_t ranks = 3; ranks <= 8; ++ranks) {
    CAPTURE(ranks);
    PipelinePhases phases;
    const std::int64_t elements = 10'000;
    const Time step = kAlpha + transfer_time(Bytes{elements * 4}, kRate);
    const Time total = run(CollectiveKind::all_reduce, ranks, elements * ranks, elements, phases);
    CHECK(total == step * (2 * (ranks - 1)));
    CHECK(phases.filled() == step * 2);
    CHECK(phases.draining() == total);
  }
}

TEST_CASE("what nobody sends neither fills nor drains") {
  const PipelinePhases phases;
  CHECK(phases.filled() == Time::zero());
  CHECK(phases.draining() == Time::zero());
}
