#include "models/serving/request_rules.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/check.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

/// In (0, 1).
double uniform(RandomStream& stream) { return (static_cast<double>(stream.bits() >> 11U) + 0.5) * 0x1p-53; }

/// Of mean 0 and variance 1, by Box and Muller.
double normal(RandomStream& stream) {
  const double radius = std::sqrt(-2 * std::log(uniform(stream)));
  return radius * std::cos(2 * std::numbers::pi * uniform(stream));
}

std::uint32_t whole_tokens(const TokenCount& law, double tokens) {
  const double kept = std::clamp(std::round(tokens), static_cast<double>(law.least), static_cast<double>(law.most));
  return static_cast<std::uint32_t>(kept);
}

std::uint32_t draw(const TokenCount& law, RandomStream& stream) {
  double tokens = law.mean;
  if (law.sigma > 0) { tokens *= std::exp(law.sigma * normal(stream) - law.sigma * law.sigma / 2); }
  return whole_tokens(law, tokens);
}

std::uint32_t fewest(const TokenCount& law) { return law.sigma > 0 ? law.least : whole_tokens(law, law.mean); }

}  // namespace

std::uint32_t most_tokens(const TokenCount& law) { return law.sigma > 0 ? law.most : whole_tokens(law, law.mean); }

bool draws(const RequestRules& rules) { return rules.between || rules.prompt.sigma > 0 || rules.output.sigma > 0; }

ServedRequest shortest(const RequestRules& rules) { return {Time::zero(), fewest(rules.prompt), fewest(rules.output)}; }

ServedRequests draw_requests(const RequestRules& rules, std::uint64_t seed) {
  require(rules.count > 0 || rules.between, "requests have a number, or times between them");
  RandomStream arrivals(seed, "arrivals of requests");
  RandomStream prompts(seed, "prompts of requests");
  RandomStream outputs(seed, "outputs of requests");
  ServedRequests requests;
  Time now;
  while (rules.count == 0 || requests.size() < rules.count) {
    if (rules.between) {
      const double span = -std::log(uniform(arrivals)) * static_cast<double>(rules.between->count());
      now += Time{std::llround(span)};
    }
    if (rules.count == 0 && now >= rules.duration) { break; }
    const std::uint32_t prompt = draw(rules.prompt, prompts);
    requests.push_back({now, prompt, draw(rules.output, outputs)});
  }
  return requests;
}

}  // namespace athanor
