#pragma once

#include <string>

#include "sim/config/json_value.hpp"
#include "tools/compare/comparison.hpp"

namespace athanor {

/// For people: a line for each condition with every alternative's figure, its ratio to the base, and who wins; then the
/// mean ratios, wins and crossover points.
std::string comparison_text(const Comparison& comparison);

/// {"by", "figure", "against", "alternatives", "base", "lines": [{conditions..., "values", "ratios", "algorithms",
/// "winners", and where there is something to be paid "against", "front"}],
/// "mean_ratios", "wins", "crossovers": [{conditions..., "before", "after", "from_bytes", "to_bytes", "at_bytes"}]}.
JsonValue comparison_json(const Comparison& comparison);

}  // namespace athanor
