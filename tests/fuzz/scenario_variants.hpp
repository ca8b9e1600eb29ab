#pragma once

#include "tests/fuzz/draws.hpp"

namespace athanor::fuzz {

/// The same with all rates times `factor`, and all latencies times `numerator` / `denominator`.
Json with_rates(const Json& scenario, unsigned factor);
Json with_latencies(const Json& scenario, unsigned numerator, unsigned denominator);

/// The same in other words: other units, another order of keys, what is so by default written out.
Json respelled(const Json& scenario, RandomStream& random);

}  // namespace athanor::fuzz
