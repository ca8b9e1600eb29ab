#pragma once

#include "models/training/compute_pool.hpp"
#include "tools/calibrate/training/measured_steps.hpp"

namespace athanor {

struct AnchoredCompute {
  ComputeProfile profile;
  /// How far its figures are from what the pool expects: the root of the sum of squares, each in standard deviations.
  double deviations = 0;
};

/// What a pool expects of the step's GPUs, moved so that it takes as long as it did: each figure as far as it is
/// uncertain and the step tells of it. Sets `simulated` of the step, by that profile. `step`: one.
AnchoredCompute anchored(MeasuredSteps& step, const ComputePool& pool, const ComputeParts& parts);

}  // namespace athanor
