#include "models/serving/request_rules.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace athanor;
using namespace athanor::literals;

TEST_CASE("requests arrive as a Poisson process, with lengths of the mean that is asked for") {
  RequestRules rules;
  rules.count = 100'000;
  rules.between = 50_ms;
  rules.prompt = {.mean = 1000, .sigma = 1};
  rules.output = {.mean = 20.4};
  const ServedRequests requests = draw_requests(rules, 11);
  REQUIRE(requests.size() == 100'000);
  double gaps = 0;
  double squares = 0;
  double prompts = 0;
  Time last;
  for (const ServedRequest& request : requests) {
    const double gap = seconds(request.arrival - last);
    last = request.arrival;
    gaps += gap;
    squares += gap * gap;
    prompts += request.prompt;
    CHECK(request.output == 20);
  }
  CHECK(gaps / 1e5 == doctest::Approx(0.05).epsilon(0.01));
  CHECK(squares / 1e5 == doctest::Approx(2 * 0.05 * 0.05).epsilon(0.03));  // exponential: E[t^2] = 2 E[t]^2
  CHECK(prompts / 1e5 == doctest::Approx(1000).epsilon(0.02));
  CHECK(draw_requests(rules, 11) == requests);
  CHECK(draw_requests(rules, 12) != requests);
}

TEST_CASE("lengths are cut to their bounds, and other laws of them leave arrivals alone") {
  RequestRules rules;
  rules.count = 2000;
  rules.between = 1_s;
  const ServedRequests fixed = draw_requests(rules, 1);
  rules.prompt = {.mean = 100, .sigma = 2, .least = 50, .most = 200};
  const ServedRequests drawn = draw_requests(rules, 1);
  std::uint32_t least = UINT32_MAX;
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    CHECK(drawn[i].arrival == fixed[i].arrival);
    least = std::min(least, drawn[i].prompt);
    most = std::max(most, drawn[i].prompt);
  }
  CHECK(least == 50);
  CHECK(most == 200);
}

TEST_CASE("requests arrive for a while, or all at once") {
  RequestRules rules;
  rules.between = 10_ms;
  rules.duration = 100_s;
  const ServedRequests requests = draw_requests(rules, 5);
  CHECK(static_cast<double>(requests.size()) == doctest::Approx(10'000).epsilon(0.04));  // 100 is its deviation
  CHECK(requests.back().arrival < 100_s);
  RequestRules at_once;
  at_once.count = 3;
  for (const ServedRequest& request : draw_requests(at_once, 5)) { CHECK(request.arrival == Time::zero()); }
}
