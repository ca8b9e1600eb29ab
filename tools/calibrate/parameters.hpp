#pragma once

#include <vector>

#include "models/software/thread_costs.hpp"
#include "tools/calibrate/search.hpp"

namespace athanor {

using CostParameter = FittedCost<ThreadCosts>;

/// All figures of costs with so many levels of caches: those of bytes on one processor, those of steps on one, and
/// those that take two. The sizes of private caches are none of them.
std::vector<CostParameter> byte_parameters(std::size_t levels);
std::vector<CostParameter> step_parameters();
std::vector<CostParameter> couple_parameters(std::size_t private_levels);

}  // namespace athanor
