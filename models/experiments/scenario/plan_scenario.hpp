#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// The scenario of one case with another plan, as `athanor run` takes it: what plans are searched in is written out,
/// all else stays as it was, but for what was measured of the old plan. `layers`: of each place. Requires a case of
/// training that was read with an open plan.
std::string scenario_with_plan(const Case& scenario_case, const ParallelPlan& plan,
                               const std::vector<std::uint32_t>& layers);

}  // namespace athanor
