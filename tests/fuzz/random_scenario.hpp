#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "sim/random.hpp"

namespace athanor::fuzz {

/// A small scenario that is valid, or refused for what its parts have to do with each other. Every rate is written as
/// "<n>Gb/s", every time as "<n>ns" and every size as "<n>B", so that others can be made from it.
nlohmann::ordered_json random_scenario(RandomStream& random);

/// The same with all rates times `factor`, and all latencies times `numerator` / `denominator`.
nlohmann::ordered_json with_rates(const nlohmann::ordered_json& scenario, unsigned factor);
nlohmann::ordered_json with_latencies(const nlohmann::ordered_json& scenario, unsigned numerator, unsigned denominator);

/// The same in other words: other units, another order of keys, what is so by default written out.
nlohmann::ordered_json respelled(const nlohmann::ordered_json& scenario, RandomStream& random);

}  // namespace athanor::fuzz
