// A server fails, and its replica takes over. S: 24 MB at 10 GB/s: 2.4 ms; 2 us from end to end; computing: 7 ms.

#include <doctest/doctest.h>

#include "models/training/parameter_server/parameter_server.hpp"
#include "tests/models/small_clusters.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

using Update = ParameterServerSetup::Update;

constexpr Time kTransfer = Time{2'400'000'000};
constexpr Time kLatency = 2_us;
constexpr Time kCompute = 7_ms;
// A worker gets parameters, computes, sends its gradient, which is copied before it gets the next ones.
constexpr Time kWay = kTransfer + kLatency;
constexpr Time kIteration = kCompute + kWay * 3 + kLatency;

/// Endpoint 0 is the worker, the copies of the only shard follow.
ParameterServerSetup replicated(std::uint32_t copies, Update update = Update::synchronous) {
  ParameterServerSetup setup;
  setup.workers = {0};
  setup.shards.emplace_back();
  for (std::uint32_t c = 0; c < copies; ++c) { setup.shards[0].push_back(1 + c); }
  setup.update = update;
  setup.compute.mean = kCompute;
  setup.parameters = 24'000'000_B;
  setup.warm_up = 1;
  setup.steps = 5;
  return setup;
}

ParameterServerResult simulated(const ParameterServerSetup& setup) {
  NetworkOptions options;
  options.level = NetworkLevel::ideal;
  return simulate_parameter_server(setup, star(8, 10_GBps, kLatency / 2), 1, options);
}

/// Asynchronous gradients count when they are applied, the first one before it was copied, the last one without a copy.
Time counted_early(Update update) { return update == Update::synchronous ? Time::zero() : kWay + kLatency; }

/// Of the third iteration: when its computing begins.
constexpr Time kThird = kWay + kIteration * 2;

ParameterServerResult failing(ParameterServerSetup setup, Time at, Time detection) {
  setup.failure = {.shard = 0, .at = at, .detection = detection};
  return simulated(setup);
}

}  // namespace

TEST_CASE("without a failure nothing changes, and one after the end is none") {
  for (const Update update : {Update::synchronous, Update::asynchronous, Update::stale}) {
    const ParameterServerResult plain = simulated(replicated(2, update));
    CHECK(plain.time == kIteration * 5);
    CHECK_FALSE(plain.outage);
    const ParameterServerResult late = failing(replicated(2, update), 10_s, 1_ms);
    CHECK(late.time == plain.time);
    CHECK_FALSE(late.outage);
    CHECK(late.resent == 0);
  }
}

TEST_CASE("a failure while the worker computes costs nothing where it is known before gradients come") {
  for (const Update update : {Update::synchronous, Update::asynchronous}) {
    const ParameterServerResult result = failing(replicated(2, update), kThird + 1_ms, 2_ms);
    CHECK(result.resent == 0);
    REQUIRE(result.outage);
    CHECK(*result.outage == kCompute - 1_ms + kWay);  // nobody is left to whom the gradient would be copied
    CHECK(result.time == kIteration * 5 - (kWay + kLatency) * 4 + counted_early(update));
  }
}

TEST_CASE("a gradient that was lost on its way is sent again when the replica has taken over") {
  for (const Update update : {Update::synchronous, Update::asynchronous}) {
    for (const Time into : {1_ms, kTransfer}) {  // of the way to the server
      const Time detection = 20_ms;
      const ParameterServerResult result = failing(replicated(2, update), kThird + kCompute + into, detection);
      CHECK(result.resent == 1);
      CHECK(*result.outage == detection + kWay);
      // The third of six iterations has its gradient's way once more; from it on there are no copies.
      CHECK(result.time == kIteration * 5 - (kWay + kLatency) * 4 + into + detection + counted_early(update));
    }
  }
}

TEST_CASE("a change that has come to the replica is not sent again, and is answered once it has taken over") {
  for (const Update update : {Update::synchronous, Update::asynchronous}) {
    const Time at = kThird + kCompute + kWay * 2 + 1_us;  // its acknowledgement is on the way
    const ParameterServerResult result = failing(replicated(2, update), at, 3_ms);
    CHECK(result.resent == 0);
    CHECK(*result.outage == 3_ms);
    CHECK(result.time == kIteration * 5 - (kWay + kLatency) * 3 - (kLatency - 1_us) + 3_ms + counted_early(update));
    CHECK(result.gradients == 5);
  }
}

TEST_CASE("parameters that were lost on their way are given out again") {
  const Time at = kThird - 1_ms;
  const ParameterServerResult result = failing(replicated(2), at, 3_ms);
  CHECK(result.resent == 0);
  CHECK(result.time == kIteration * 5 - (kWay + kLatency) * 4 + 3_ms + kWay - 1_ms);
}

TEST_CASE("of three copies two are left, and changes are still copied") {
  for (const auto replication :
       {ParameterServerSetup::Replication::chain, ParameterServerSetup::Replication::all_to_all}) {
    ParameterServerSetup setup = replicated(3);
    setup.replication = replication;
    const ParameterServerResult result = failing(setup, kWay + 1_ms, 2_ms);
    CHECK(result.time == kIteration * 5);  // as of two copies
    CHECK(result.resent == 0);
  }
}

TEST_CASE("every worker goes on after a failure at any time, with every update") {
  for (const Update update : {Update::synchronous, Update::asynchronous, Update::stale}) {
    for (std::int64_t i = 0; i < 60; ++i) {
      CAPTURE(i);
      ParameterServerSetup setup = replicated(3, update);
      setup.workers = {0, 4, 5, 6};
      setup.bound = 1;
      setup.apply_rate = 8_GBps;
      setup.compute.kind = ComputeTime::Kind::exponential;
      setup.replication =
          i % 2 == 0 ? ParameterServerSetup::Replication::chain : ParameterServerSetup::Replication::all_to_all;
      const ParameterServerResult result = failing(setup, 1_ms * (7 * i + 3), 1_ms * (i % 9));
      CHECK(result.updates == (update == Update::synchronous ? 5U : 20U));
    }
  }
}
