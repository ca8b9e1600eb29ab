#include "models/execution/critical_path.hpp"

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
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

struct Followed {
  Time time;
  PathShares shares;
};

Followed run(CollectiveKind kind, const std::string& algorithm, std::uint32_t ranks, Elements count,
             const CostModel& costs = UniformCosts(), SimulationOptions options = {}) {
  const Cluster cluster = star(ranks, kRate, kAlpha / 2);
  CriticalPath path;
  options.observers = {&path};
  const auto schedule = find(kind, algorithm).make({kind, ranks, count}, {});
  const Placement placement{{cluster.endpoints.begin(), cluster.endpoints.begin() + ranks}, 1};
  const Time time = simulate(*schedule, cluster, placement, costs, options).time;
  return {time, path.shares()};
}

}  // namespace

TEST_CASE("the critical path of an uncontended ring is 2 (P - 1) latencies and 2 (P - 1) transfers of a part") {
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
    CAPTURE(ranks);
    const Followed ring = run(CollectiveKind::all_reduce, "ring", ranks, Elements{10'000} * ranks);
    const std::int64_t steps = 2 * (ranks - 1);
    CHECK(ring.shares.between.latency == kAlpha * steps);
    CHECK(ring.shares.between.transfer == transfer_time(Bytes{40'000}, kRate) * steps);
    CHECK(ring.shares.between.transfers == static_cast<std::uint64_t>(steps));
    CHECK(ring.shares.between.sharing == Time::zero());
    CHECK(ring.shares.within.total() == Time::zero());
    CHECK(ring.shares.total() == ring.time);
  }
}

TEST_CASE("what a profile asks for each message is software's, not the links'") {
  UniformCosts costs;
  costs.connection_cost.latency = 2_us;
  const Followed ring = run(CollectiveKind::all_reduce, "ring", 4, Elements{40'000}, costs);
  CHECK(ring.shares.between.latency == kAlpha * 6);
  CHECK(ring.shares.overhead == 2_us * 6);
  CHECK(ring.shares.total() == ring.time);
}

TEST_CASE("P - 1 messages into one link: the last byte waits for those of the others") {
  const std::uint32_t ranks = 5;
  const Followed gather = run(CollectiveKind::gather, "linear", ranks, Elements{10'000} * ranks);
  const Time one = transfer_time(Bytes{40'000}, kRate);
  CHECK(gather.shares.between.latency == kAlpha);
  CHECK(gather.shares.between.transfer == one);
  CHECK(gather.shares.between.sharing == one * (ranks - 2));
  CHECK(gather.shares.total() == gather.time);
}

TEST_CASE("a broadcast in chunks waits for the root's own sends, which are transfers of the path") {
  const Cluster cluster = star(4, kRate, kAlpha / 2);
  CriticalPath path;
  SimulationOptions options;
  options.observers = {&path};
  Layout layout;
  layout.chunk = Elements{10'000};
  const auto schedule =
      find(CollectiveKind::broadcast, "ring").make({CollectiveKind::broadcast, 4, Elements{70'000}}, layout);
  const Time time = simulate(*schedule, cluster, {cluster.endpoints, 1}, UniformCosts(), options).time;
  const Time step = kAlpha + transfer_time(Bytes{40'000}, kRate);
  CHECK(time == step * (7 + 2));
  CHECK(path.shares().total() == time);
  CHECK(path.shares().between.transfer == transfer_time(Bytes{40'000}, kRate) * 9);
  CHECK(path.shares().between.sharing == Time::zero());
}

TEST_CASE("every algorithm's critical path adds up to its time, with and without classes, at every level") {
  for (const Algorithm& algorithm : catalog()) {
    const Collective collective{algorithm.kind, 8, Elements{algorithm.kind == CollectiveKind::barrier ? 0 : 80'000}};
    const bool on_hosts = algorithm.engine == Engine::none && algorithm.kind != CollectiveKind::all_to_all_v;
    if (!on_hosts || algorithm.refuses(collective, {})) { continue; }
    CAPTURE(algorithm.name);
    for (const NetworkLevel level : {NetworkLevel::ideal, NetworkLevel::flow, NetworkLevel::packet}) {
      for (const bool classes : {true, false}) {
        SimulationOptions options;
        options.level = level;
        options.classes = classes;
        const Followed followed = run(collective.kind, algorithm.name, 8, collective.count, UniformCosts(), options);
        CHECK(followed.shares.total() == followed.time);
      }
    }
  }
}
