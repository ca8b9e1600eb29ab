#include "models/serving/serving_effort.hpp"

#include <doctest/doctest.h>

#include "tests/models/serving/simple_law.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

ServingEffort effort(const RequestRules& drawn, const ServingRules& rules) {
  return effort_of(means_of(drawn), rules, simple_law());
}

/// Iterations of a run, in which nothing is computed at once where no request generates two tokens.
double iterations(const RequestRules& drawn, const ServingRules& rules) {
  double sum = 0;
  for (const EngineAccount& each : simulate_serving(draw_requests(drawn, 1), rules, simple_law()).replicas) {
    sum += static_cast<double>(each.iterations);
  }
  return sum;
}

}  // namespace

TEST_CASE("prompts that are computed token by token count as many steps as they take") {
  RequestRules drawn{.count = 50, .prompt = {.mean = 1000}};
  const ServingRules rules{1, Balance::round_robin, {.max_running = 1, .max_batched_tokens = 1, .pages = 100}};
  CHECK(effort(drawn, rules).steps == iterations(drawn, rules));
  CHECK(effort(drawn, rules).places == 50'000);
}

TEST_CASE("many requests of one token share their steps") {
  RequestRules drawn{.count = 1'024'000};
  const ServingRules rules{4, Balance::round_robin, {.max_running = 256, .max_batched_tokens = 256, .pages = 1000}};
  CHECK(iterations(drawn, rules) == 4000);
  CHECK(effort(drawn, rules).steps == 4000);
  CHECK(effort(drawn, rules).places == 4000 * 256);
}

TEST_CASE("what runs at once follows from room where all come at once, and from Little's law where they do not") {
  RequestRules drawn{.count = 10'000, .prompt = {.mean = 100}, .output = {.mean = 200}};
  ServingRules rules{1, Balance::round_robin, {.pages = 250}};  // room for 4000 tokens: 20 of 200 on average
  const ServingEffort full = effort(drawn, rules);
  CHECK(full.places / full.steps == doctest::Approx(20));
  rules.engine.reserve_output = true;
  const ServingEffort reserved = effort(drawn, rules);
  CHECK(reserved.places / reserved.steps == doctest::Approx(4000.0 / 300));
  drawn.between = 100_ms;
  rules.engine.pages = 100'000;
  const ServingEffort some = effort(drawn, rules);
  CHECK(some.places / some.steps > 2);  // 2000 tokens a second, in iterations of 1 ms and a little more
  CHECK(some.places / some.steps < 2.2);
}

TEST_CASE("recorded requests have means") {
  const RequestMeans means = means_of(ServedRequests{{Time::zero(), 10, 1}, {1_s, 20, 3}, {2_s, 30, 5}});
  CHECK(means.count == 3);
  CHECK(means.prompt == doctest::Approx(20));
  CHECK(means.output == doctest::Approx(3));
  CHECK(means.per_second == doctest::Approx(1.5));
  CHECK(means_of(ServedRequests{{Time::zero(), 10, 1}}).per_second == 0);
}
