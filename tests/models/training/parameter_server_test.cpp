// Laws of training with parameter servers. R: what a NIC carries, S: bytes of parameters and of gradients.

#include "models/training/parameter_server/parameter_server.hpp"

#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/models/small_clusters.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

using Update = ParameterServerSetup::Update;
using Replication = ParameterServerSetup::Replication;

constexpr Bandwidth kRate = 10_GBps;
constexpr Time kLatency = 2_us;                  // from end to end
constexpr Bytes kParameters{24'000'000};         // 2.4 ms over a NIC
constexpr Time kTransfer = Time{2'400'000'000};  // S / R
constexpr Time kCompute = 7_ms;

/// Endpoints 0 to workers - 1 are workers, those that follow hold shards.
ParameterServerSetup apart(std::uint32_t workers, std::uint32_t shards) {
  ParameterServerSetup setup;
  for (std::uint32_t w = 0; w < workers; ++w) { setup.workers.push_back(w); }
  for (std::uint32_t s = 0; s < shards; ++s) { setup.shards.push_back({workers + s}); }
  setup.compute.mean = kCompute;
  setup.parameters = kParameters;
  setup.warm_up = 2;
  setup.steps = 5;
  return setup;
}

ParameterServerResult simulated(const ParameterServerSetup& setup, NetworkLevel level = NetworkLevel::flow,
                                std::uint64_t seed = 1) {
  std::uint32_t hosts = 0;
  for (const std::uint32_t worker : setup.workers) { hosts = std::max(hosts, worker + 1); }
  for (const auto& shard : setup.shards) { hosts = std::max(hosts, *std::max_element(shard.begin(), shard.end()) + 1); }
  NetworkOptions options;
  options.level = level;
  options.packet.transport.header = Bytes::zero();
  return simulate_parameter_server(setup, star(hosts, kRate, kLatency / 2), seed, options);
}

/// All iterations take that time, and so does a step, but for the picosecond up to which each transfer is rounded.
void check_steps(const ParameterServerResult& result, Time step, std::uint32_t steps) {
  const Time most = step + 6_ps;
  CHECK(result.time >= step * steps);
  CHECK(result.time <= most * steps);
  CHECK(result.updates == steps);
  CHECK(result.iterations.front() >= step);
  CHECK(result.iterations.back().count() <= most.count());
  CHECK(result.dropped == 0);
}

/// Exchanges that take next to no time: what is left is what is drawn.
ParameterServerSetup computing(std::uint32_t workers) {
  ParameterServerSetup setup = apart(workers, 1);
  setup.parameters = 1_B;
  setup.compute.mean = 10_s;
  return setup;
}

constexpr Time kExchange = 1_ms;  // more than a byte takes there and back

}  // namespace

TEST_CASE("one server takes in and gives out the gradients and parameters of n workers one NIC's rate") {
  for (const std::uint32_t n : {1U, 2U, 3U, 8U}) {
    ParameterServerSetup setup = apart(n, 1);
    check_steps(simulated(setup), kTransfer * (2 * n) + kCompute + kLatency * 2, setup.steps);
    setup.apply_rate = 8_GBps;
    const Time apply = transfer_time(kParameters, setup.apply_rate);
    check_steps(simulated(setup), (kTransfer * 2 + apply) * n + kCompute + kLatency * 2, setup.steps);
    CHECK(simulated(setup).gradients == n * setup.steps);
  }
}

TEST_CASE("k servers divide that by k, until the workers' NICs are the limit") {
  for (const std::uint32_t n : {2U, 6U}) {
    for (const std::uint32_t k : {1U, 2U, 3U, 6U, 12U}) {
      CAPTURE(n);
      CAPTURE(k);
      ParameterServerSetup setup = apart(n, k);
      setup.apply_rate = 8_GBps;
      const Time way = std::max(kTransfer * n / k, kTransfer);
      const Time apply = transfer_time(kParameters / k, setup.apply_rate) * n;
      check_steps(simulated(setup), way * 2 + apply + kCompute + kLatency * 2, setup.steps);
    }
  }
}

TEST_CASE("a server for each worker beside it exchanges (n - 1) / n of the parameters both ways") {
  for (const std::uint32_t n : {1U, 2U, 3U, 8U}) {
    CAPTURE(n);
    ParameterServerSetup setup = apart(n, n);
    for (std::uint32_t s = 0; s < n; ++s) { setup.shards[s] = {s}; }
    const Time way = n == 1 ? Time::zero() : kTransfer * (n - 1) / n + kLatency;
    check_steps(simulated(setup), way * 2 + kCompute, setup.steps);
  }
}

TEST_CASE("smaller gradients make the way to servers shorter, not the way back") {
  ParameterServerSetup setup = apart(4, 1);
  setup.gradient = {1, 4};
  check_steps(simulated(setup), kTransfer * 4 + kTransfer + kCompute + kLatency * 2, setup.steps);
}

TEST_CASE("all levels of the network agree on one worker and one server") {
  const ParameterServerSetup setup = apart(1, 1);
  check_steps(simulated(setup, NetworkLevel::ideal), kTransfer * 2 + kCompute + kLatency * 2, setup.steps);
  const ParameterServerResult packets = simulated(setup, NetworkLevel::packet);
  CHECK(seconds(packets.mean_iteration()) ==
        doctest::Approx(seconds(kTransfer * 2 + kCompute + kLatency * 2)).epsilon(0.001));
}

TEST_CASE("an asynchronous worker alone is limited by its own round trip") {
  ParameterServerSetup setup = apart(1, 1);
  setup.update = Update::asynchronous;
  setup.apply_rate = 8_GBps;
  const Time apply = transfer_time(kParameters, setup.apply_rate);
  check_steps(simulated(setup), kTransfer * 2 + apply + kCompute + kLatency * 2, setup.steps);
}

TEST_CASE("asynchronous workers are limited by the server, or by their computing and round trips") {
  for (const std::uint32_t n : {2U, 4U, 16U, 32U}) {
    CAPTURE(n);
    ParameterServerSetup setup = apart(n, 1);
    setup.update = Update::asynchronous;
    setup.compute = {.kind = ComputeTime::Kind::exponential, .mean = 40_ms, .deviation = {}, .least = 30_ms};
    setup.warm_up = 10;
    setup.steps = 200;
    const ParameterServerResult result = simulated(setup);
    const double round_trip = seconds(setup.compute.mean + kTransfer * 2 + kLatency * 2);
    const double workers = n / round_trip;
    const double server = 1 / seconds(kTransfer);
    CHECK(result.updates_per_second() <= std::min(workers, server) * 1.01);
    CHECK(result.updates_per_second() >= std::min(workers, server) * (n == 16 ? 0.75 : 0.93));
    CHECK(result.gradients == n * setup.steps);
    CHECK(result.updates == n * setup.steps);
  }
}

TEST_CASE("the server's processor limits asynchronous workers too") {
  ParameterServerSetup setup = apart(8, 1);
  setup.update = Update::asynchronous;
  setup.apply_rate = 1_GBps;
  setup.steps = 50;
  const ParameterServerResult result = simulated(setup);
  CHECK(result.updates_per_second() == doctest::Approx(1 / seconds(kTransfer * 10)).epsilon(0.01));
  CHECK(result.server_busy > 0.95);
}

TEST_CASE("with a bound of 0 stale workers are synchronous, without one they are asynchronous") {
  for (const ComputeTime::Kind kind : {ComputeTime::Kind::constant, ComputeTime::Kind::pareto}) {
    for (const std::uint32_t k : {1U, 3U}) {
      ParameterServerSetup setup = apart(5, k);
      setup.compute.kind = kind;
      setup.apply_rate = 30_GBps;
      setup.steps = 20;
      const ParameterServerResult together = simulated(setup);
      setup.update = Update::asynchronous;
      const ParameterServerResult alone = simulated(setup);
      setup.update = Update::stale;
      setup.bound = 0;
      CHECK(simulated(setup).iterations == together.iterations);
      CHECK(simulated(setup).time <= together.time);  // which ends with the last gradient of the last step too
      setup.bound = 1'000;
      CHECK(simulated(setup).iterations == alone.iterations);
      CHECK(simulated(setup).time == alone.time);
      CHECK(simulated(setup).staleness == alone.staleness);
    }
  }
}

TEST_CASE("in the long run the slowest worker holds back those who may not be ahead, and nobody else") {
  for (const Update update : {Update::synchronous, Update::stale, Update::asynchronous}) {
    ParameterServerSetup setup = computing(4);
    setup.update = update;
    setup.bound = 3;
    setup.warm_up = 20;
    setup.steps = 100;
    setup.stragglers = {{2, {5, 2}}};
    const double compute = seconds(setup.compute.mean);
    const bool free = update == Update::asynchronous;
    const double expected = free ? 3 / compute + 1 / (2.5 * compute) : 4 / (2.5 * compute);
    CHECK(simulated(setup).gradients_per_second() == doctest::Approx(expected).epsilon(0.02));
  }
}

TEST_CASE("workers in turn see the gradients of all others between their parameters and their gradient") {
  for (const std::uint32_t n : {2U, 5U}) {
    ParameterServerSetup setup = apart(n, 1);
    setup.update = Update::asynchronous;
    setup.apply_rate = 1_GBps;  // the server is the limit, and its queue makes them come in turn
    setup.steps = 20;
    const std::vector<std::uint64_t> staleness = simulated(setup).staleness;
    REQUIRE(staleness.size() == n);
    CHECK(staleness[n - 1] == n * setup.steps);
    setup.update = Update::synchronous;
    CHECK(simulated(setup).staleness == std::vector<std::uint64_t>{n * setup.steps});
  }
}

TEST_CASE("with b backup workers a step takes the (n - b)-th of the times that workers draw") {
  for (const std::uint32_t b : {1U, 2U}) {
    ParameterServerSetup setup = computing(5);
    setup.backup_workers = b;
    setup.stragglers = {{0, {3, 2}}, {3, {2, 1}}};
    setup.warm_up = 1;
    setup.steps = 40;
    const ParameterServerResult result = simulated(setup);
    const Time step = b == 1 ? setup.compute.mean * 3 / 2 : setup.compute.mean;
    CHECK(result.time >= step * setup.steps);
    CHECK(result.time <= (step + kExchange) * setup.steps);
    CHECK(result.gradients == (5 - b) * setup.steps);
    CHECK(result.updates == setup.steps);
  }
}

TEST_CASE("of the gradients that come too late each is dropped, and its worker goes on with the present step") {
  ParameterServerSetup setup = computing(4);
  setup.backup_workers = 1;
  setup.stragglers = {{1, {5, 2}}};  // comes in the third step of each three
  setup.warm_up = 3;
  setup.steps = 30;
  const ParameterServerResult result = simulated(setup);
  CHECK(result.time <= (setup.compute.mean + kExchange) * setup.steps);
  CHECK(result.gradients == 3 * setup.steps);
  CHECK(result.dropped == 12);  // one in 2.5 steps
}

TEST_CASE("steps with backup workers are those of a naive count of who comes when") {
  for (const std::uint32_t b : {1U, 3U}) {
    ParameterServerSetup setup = computing(8);
    setup.backup_workers = b;
    setup.compute.kind = ComputeTime::Kind::exponential;
    setup.warm_up = 1;
    setup.steps = 60;
    std::vector<RandomStream> draws;
    std::vector<Time> comes;
    for (std::uint32_t w = 0; w < 8; ++w) {
      comes.push_back(draw(setup.compute, draws.emplace_back(1, fmt::format("worker {}", w))));
    }
    std::vector<std::uint32_t> step_of(8, 0);
    Time first_end;
    Time end;
    for (std::uint32_t step = 0; step <= setup.steps; ++step) {
      std::vector<std::uint32_t> got;
      while (got.size() < 8 - b) {
        const auto next = static_cast<std::uint32_t>(std::min_element(comes.begin(), comes.end()) - comes.begin());
        end = comes[next];
        if (step_of[next] == step) {
          got.push_back(next);
          comes[next] = Time::max();
        } else {
          step_of[next] = step;
          comes[next] = end + draw(setup.compute, draws[next]);
        }
      }
      for (const std::uint32_t worker : got) {
        step_of[worker] = step + 1;
        comes[worker] = end + draw(setup.compute, draws[worker]);
      }
      if (step == 0) { first_end = end; }
    }
    const ParameterServerResult result = simulated(setup);
    CHECK(seconds(result.time) == doctest::Approx(seconds(end - first_end)).epsilon(1e-3));
  }
}

TEST_CASE("a synchronous step of exponential times takes the n-th harmonic number of means") {
  ParameterServerSetup setup = computing(6);
  setup.compute.kind = ComputeTime::Kind::exponential;
  setup.steps = 4'000;
  const double harmonic = 1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4 + 1.0 / 5 + 1.0 / 6;
  const ParameterServerResult result = simulated(setup);
  CHECK(seconds(result.mean_iteration()) == doctest::Approx(harmonic * seconds(setup.compute.mean)).epsilon(0.03));
  CHECK(result.waiting == doctest::Approx(1 - 1 / harmonic).epsilon(0.03));
}

TEST_CASE("backup workers with several servers end every step with as many gradients at each") {
  for (const std::uint32_t k : {2U, 5U}) {
    ParameterServerSetup setup = apart(6, k);
    setup.backup_workers = 2;
    setup.compute = {.kind = ComputeTime::Kind::pareto, .mean = 7_ms, .deviation = {}, .least = {}, .shape = {3, 2}};
    setup.steps = 200;
    const ParameterServerResult result = simulated(setup);
    CHECK(result.updates == setup.steps);
    CHECK(result.gradients == 4 * setup.steps);
    CHECK(result.dropped > 0);
    setup.backup_workers = 0;
    CHECK(simulated(setup).time > result.time);
  }
}

TEST_CASE("a chain of copies passes a step on one after the other, and all-to-all sends it to all at once") {
  for (const std::uint32_t copies : {2U, 3U, 4U}) {
    ParameterServerSetup setup = apart(3, 1);
    for (std::uint32_t c = 1; c < copies; ++c) { setup.shards[0].push_back(3 + c); }
    setup.apply_rate = 8_GBps;
    const Time apply = transfer_time(kParameters, setup.apply_rate);
    const Time alone = (kTransfer * 2 + apply) * 3 + kCompute + kLatency * 2;
    check_steps(simulated(setup), alone + (kTransfer + kLatency + apply) * (copies - 1) + kLatency, setup.steps);
    setup.replication = Replication::all_to_all;
    check_steps(simulated(setup), alone + kTransfer * (copies - 1) + kLatency + apply + kLatency, setup.steps);
  }
}

TEST_CASE("copies of asynchronous gradients take their share of the first server's NIC") {
  ParameterServerSetup setup = apart(16, 1);
  setup.shards[0] = {16, 17, 18};
  setup.update = Update::asynchronous;
  setup.replication = Replication::all_to_all;
  setup.steps = 50;
  CHECK(simulated(setup).updates_per_second() <= 1 / seconds(kTransfer * 3));  // it sends S to two copies, S back
  CHECK(simulated(setup).updates_per_second() >= 0.9 / seconds(kTransfer * 3));
}

TEST_CASE("what is drawn depends on the seed, and on nothing else") {
  ParameterServerSetup setup = apart(3, 1);
  setup.compute.kind = ComputeTime::Kind::pareto;
  CHECK(simulated(setup).iterations == simulated(setup).iterations);
  CHECK(simulated(setup).iterations != simulated(setup, NetworkLevel::flow, 2).iterations);
}
