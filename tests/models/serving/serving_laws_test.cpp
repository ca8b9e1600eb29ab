#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

#include "models/serving/request_rules.hpp"
#include "models/serving/serving_summary.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "tests/models/serving/simple_law.hpp"

using namespace athanor;
using namespace athanor::testing;

TEST_CASE("one prompt at a time, of equal lengths, waits as in the queue M/D/1") {
  // Prompts of 100 tokens and a budget of as many: each iteration serves one, in 1 ms + 1 ms + 1 us + 5.05 us.
  const IterationLaw law = simple_law();
  const Time service = law.of_tokens(100) + law.of_samples(1) + law.of_chunk(0, 100);
  ServingRules rules;
  rules.engine = {.max_running = 50, .max_batched_tokens = 100, .chunked_prefill = false, .page = 16, .pages = 1000};
  for (const double load : {0.3, 0.6, 0.8}) {
    CAPTURE(load);
    RequestRules drawn;
    drawn.count = 200'000;
    drawn.between = Time{static_cast<std::int64_t>(static_cast<double>(service.count()) / load)};
    drawn.prompt.mean = 100;
    const ServedRequests requests = draw_requests(drawn, 7);
    const ServingSummary summary = summary_of(simulate_serving(requests, rules, law), requests, rules, {});
    const double wait = load * seconds(service) / (2 * (1 - load));  // Pollaczek and Khinchine
    CHECK(summary.queue.mean == doctest::Approx(wait).epsilon(0.03));
    CHECK(summary.ttft.mean == doctest::Approx(summary.queue.mean + seconds(service)));
    CHECK(summary.busy == doctest::Approx(load).epsilon(0.01));
  }
}

TEST_CASE("every token is computed once where nothing is preempted, and what runs obeys Little's law") {
  RequestRules drawn;
  drawn.count = 5000;
  drawn.between = 20_ms;
  drawn.prompt = {.mean = 300, .sigma = 0.8, .most = 2000};
  drawn.output = {.mean = 60, .sigma = 0.5, .most = 500};
  const ServedRequests requests = draw_requests(drawn, 3);
  for (const std::uint32_t replicas : {1U, 3U, 8U}) {
    for (const Balance balance : {Balance::round_robin, Balance::least_load}) {
      CAPTURE(replicas);
      ServingRules rules{replicas, balance, {.max_running = 64, .max_batched_tokens = 512, .pages = 100'000}};
      const ServingRun run = simulate_serving(requests, rules, simple_law());
      std::uint64_t computed = 0;
      double running = 0;
      for (const EngineAccount& replica : run.replicas) {
        computed += replica.tokens;
        running += replica.running_seconds;
      }
      std::uint64_t asked = 0;
      double in_engine = 0;
      for (std::size_t i = 0; i < requests.size(); ++i) {
        asked += requests[i].most_kept();
        in_engine += seconds(run.outcomes[i].finished - run.outcomes[i].scheduled);
        CHECK(run.outcomes[i].scheduled >= requests[i].arrival);
        CHECK(run.outcomes[i].first_token > run.outcomes[i].scheduled);
        CHECK((run.outcomes[i].finished > run.outcomes[i].first_token) == (requests[i].output > 1));
      }
      CHECK(computed == asked);
      CHECK(running == doctest::Approx(in_engine));
    }
  }
}

TEST_CASE("the least loaded replica gets the next request, and round robin takes no notice") {
  ServingRules rules{2, Balance::round_robin, {.max_running = 1, .max_batched_tokens = 64, .pages = 1000}};
  // The first is long, the others are short, and come one after the other.
  const ServedRequests requests{
      {Time::zero(), 10, 1000}, {1_ms, 10, 1}, {100_ms, 10, 1}, {200_ms, 10, 1}, {300_ms, 10, 1}};
  const ServingRun turns = simulate_serving(requests, rules, simple_law());
  CHECK(turns.outcomes[2].scheduled == turns.outcomes[0].finished);
  rules.balance = Balance::least_load;
  const ServingRun least = simulate_serving(requests, rules, simple_law());
  for (std::size_t i = 1; i < requests.size(); ++i) { CHECK(least.outcomes[i].scheduled == requests[i].arrival); }
}

namespace {

/// Every replica is run up to each arrival, and asked.
std::vector<ServedOutcome> to_the_least_loaded(const ServedRequests& requests, const ServingRules& rules) {
  const IterationLaw law = simple_law();
  std::vector<ServedOutcome> outcomes(requests.size());
  std::vector<ReplicaEngine> engines;
  engines.reserve(rules.replicas);
  for (std::uint32_t i = 0; i < rules.replicas; ++i) { engines.emplace_back(rules.engine, law, requests, outcomes); }
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    const Time now = requests[i].arrival;
    for (ReplicaEngine& engine : engines) { engine.advance(now); }
    std::min_element(engines.begin(), engines.end(), [&](const ReplicaEngine& a, const ReplicaEngine& b) {
      return a.outstanding(now) < b.outstanding(now);
    })->arrive(i);
  }
  for (ReplicaEngine& engine : engines) { engine.advance(Time::max()); }
  return outcomes;
}

}  // namespace

TEST_CASE("replicas that are looked at when they may have finished something do what they do when always looked at") {
  RandomStream random(5, "least load");
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    ServingRules rules{1 + static_cast<std::uint32_t>(random.below(5)), Balance::least_load, {}};
    rules.engine.max_running = 1 + static_cast<std::uint32_t>(random.below(6));
    rules.engine.max_batched_tokens = rules.engine.max_running + static_cast<std::uint32_t>(random.below(60));
    rules.engine.page = 1 + static_cast<std::uint32_t>(random.below(20));
    rules.engine.pages = 200 / rules.engine.page + 1 + random.below(20);
    rules.engine.reserve_output = random.below(3) == 0;
    ServedRequests requests;
    Time now;
    for (std::uint64_t left = 1 + random.below(60); left > 0; --left) {
      now += 1_us * static_cast<std::int64_t>(random.below(3) == 0 ? 0 : random.below(60'000));
      requests.push_back(
          {now, 1 + static_cast<std::uint32_t>(random.below(100)), 1 + static_cast<std::uint32_t>(random.below(100))});
    }
    const ServingRun run = simulate_serving(requests, rules, simple_law());
    CHECK(run.outcomes == to_the_least_loaded(requests, rules));
  }
}

TEST_CASE("goodput is the share of requests that keep every limit") {
  const ServedRequests requests{{Time::zero(), 10, 1}, {10_s, 10, 3}};
  ServingRun run;
  run.outcomes = {{Time::zero(), 2_s, 2_s, 0}, {10_s, 11_s, 15_s, 0}};  // TTFT 2 s and 1 s; TPOT none and 2 s
  run.replicas.resize(1);
  run.end = 15_s;
  const auto within = [&](const ServingLimits& limits) { return summary_of(run, requests, {}, limits).within_limits; };
  CHECK_FALSE(within({}).has_value());
  CHECK(within({.ttft = 2_s}) == 1);
  CHECK(within({.ttft = 1_s}) == 0.5);
  CHECK(within({.tpot = 2_s}) == 1);
  CHECK(within({.ttft = 1_s, .tpot = 1_s}) == 0);
  const ServingSummary summary = summary_of(run, requests, {}, {});
  CHECK(summary.tpot->mean == 2);
  CHECK(summary.latency.p50 == 2);
  CHECK(summary.latency.p99 == 5);
  CHECK(summary.output_per_s == doctest::Approx(4.0 / 15));
}

TEST_CASE("requests of one token have no time per output token") {
  const ServedRequests requests{{Time::zero(), 10, 1}};
  ServingRun run;
  run.outcomes = {{Time::zero(), 2_s, 2_s, 0}};
  run.replicas.resize(1);
  run.end = 2_s;
  CHECK_FALSE(summary_of(run, requests, {}, {}).tpot.has_value());
}

TEST_CASE("serving that is told to stop is interrupted") {
  std::stop_source source;
  source.request_stop();
  ServingRules rules;
  rules.engine.pages = 100;
  CHECK_THROWS_AS(simulate_serving({{Time::zero(), 1, 1}}, rules, simple_law(), source.get_token()), Interrupted);
}

TEST_CASE("serving is interrupted between two iterations, also when no request arrives anymore") {
  std::stop_source source;
  IterationLaw law = simple_law();
  int asked = 0;
  law.of_tokens = [&](std::uint32_t /*tokens*/) {
    if (++asked == 10) { source.request_stop(); }
    return 1_ms;
  };
  ServingRules rules;
  rules.engine = {.max_running = 1, .max_batched_tokens = 1, .pages = 100};
  const ServedRequests requests(100, {Time::zero(), 10, 1});
  CHECK_THROWS_AS(simulate_serving(requests, rules, law, source.get_token()), Interrupted);
  CHECK(asked == 10);
}
