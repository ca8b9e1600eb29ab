#pragma once

#include <string>

#include "models/experiments/scenario/sweep/plan.hpp"

namespace athanor {

/// {"cases": [...], "axes": [{"name", "pointers", "values", "labels"}]}: one line.
std::string to_json_text(const SweepPlan& plan);
/// Throws DocumentError for what to_json_text does not return; `place`: what messages call it.
SweepPlan plan_from_json(const std::string& text, const std::string& place);

}  // namespace athanor
