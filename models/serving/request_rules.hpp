#pragma once

#include <cstdint>
#include <optional>

#include "models/serving/served_request.hpp"

namespace athanor {

/// How many tokens prompts or outputs have.
struct TokenCount {
  double mean = 1;   ///< at least 1
  double sigma = 0;  ///< standard deviation of the logarithm; 0: all have the mean, rounded to a whole number
  std::uint32_t least = 1;
  std::uint32_t most = 1'000'000;  ///< what is drawn beyond `least` and `most` is cut to these
  bool operator==(const TokenCount&) const = default;
};

/// Requests that are drawn.
struct RequestRules {
  std::uint64_t count = 0;           ///< so many; 0: as many as arrive in `duration`
  std::optional<Time> between = {};  ///< mean of the exponential time from one arrival to the next; none: all at 0
  Time duration = {};                ///< of arrivals, where there is no count
  TokenCount prompt = {};
  TokenCount output = {};
  bool operator==(const RequestRules&) const = default;
};

/// With the fewest tokens that are drawn.
ServedRequest shortest(const RequestRules& rules);

/// The most that may be drawn.
std::uint32_t most_tokens(const TokenCount& law);
/// Whether anything depends on a seed.
bool draws(const RequestRules& rules);

/// Poisson arrivals from 0 on, or all at 0. What is drawn depends on the seed alone; arrivals, prompts and outputs each
/// on streams of their own. Requires a count, or a time between arrivals.
ServedRequests draw_requests(const RequestRules& rules, std::uint64_t seed);

}  // namespace athanor
