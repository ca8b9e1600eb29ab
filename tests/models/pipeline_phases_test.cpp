#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/execution_observer.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "tests/models/small_clusters.hpp"
#include "topologies/cluster.hpp"

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
  options.observers = {&phases};
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

TEST_CASE("what is sent is spread over the time in which it leaves, however long a run becomes") {
  SendingOverTime sending;
  for (const double share : sending.shares(4, 1_us)) { CHECK(share == 0); }
  sending.add(1_us, 3_us, Bytes{300});
  sending.add(4_us, 4_us, Bytes{100});
  const auto near = [](double value) { return doctest::Approx(value).epsilon(1e-9); };
  for (const Time longer : {4_us, 40_ms}) {  // the second widens the parts that are kept
    sending.add(longer, longer, Bytes::zero());
    const std::vector<double> shares = sending.shares(5, 5_us);
    if (longer == 4_us) {  // of parts wider than what is asked for only the sum is known
      CHECK(shares[0] == near(0));
      CHECK(shares[1] == near(0.375));
      CHECK(shares[2] == near(0.375));
      CHECK(shares[3] == near(0));
      CHECK(shares[4] == near(0.25));
    }
    const std::vector<double> all = sending.shares(7, 80_ms);
    double sum = 0;
    for (const double share : all) { sum += share; }
    CHECK(sum == near(1));
    CHECK(all[0] == near(1));
  }
}

TEST_CASE("a broadcast of many chunks sends evenly between fill and drain") {
  PipelinePhases phases;
  const Time total = run(CollectiveKind::broadcast, 4, 10'000 * 300, 10'000, phases);
  const std::vector<double> shares = phases.sending().shares(10, total);
  for (std::size_t i = 1; i < 9; ++i) { CHECK(shares[i] == doctest::Approx(0.1).epsilon(0.03)); }
}
