#pragma once

#include "models/training/compute_pool.hpp"
#include "tools/calibrate/training/measured_steps.hpp"

namespace athanor {

/// What a pool expects of the step's GPUs, moved so that it takes as long as it did: each figure as far as it is
/// uncertain and the step tells of it. Sets `simulated` of the step, by that profile. `step`: one.
ComputeProfile anchored(MeasuredSteps& step, const ComputePool& pool, const ComputeParts& parts);

}  // namespace athanor
