#pragma once

#include <vector>

#include "models/experiments/scenario/sweep/plan.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// The "sweep" of a scenario. Reports ranges that are empty or have no end, linked parameters of different lengths,
/// labels that do not match, and pointers that two parameters set.
void visit(Fields& fields, std::vector<SweepAxis>& axes);

}  // namespace athanor
