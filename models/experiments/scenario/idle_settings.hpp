#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/training/parallel_plan.hpp"

namespace athanor {

/// Keys of "parallel" that idle_settings() knows.
const std::vector<std::string>& keys_that_may_be_idle();

/// Of these, those that have nothing to act on in this plan.
std::vector<std::string> idle_keys(const ParallelPlan& plan);

/// What a plan says although there is nothing that it could act on, such as "prefetch" without sharding: a line for
/// each, for whoever reads the result. No errors, since sweeps go over degrees and kinds of sharding with all else as
/// it is. `written`: keys that somebody wrote.
std::vector<std::string> idle_settings(const ParallelPlan& plan, const std::set<std::string>& written);

}  // namespace athanor
