#pragma once

#include "models/experiments/record.hpp"
#include "models/training/step/simulate_step.hpp"

namespace athanor {

/// Of a step on unequal GPUs how much each kind computes; where stages or copies have unlike shares, which.
void put_mixture(const TrainingSetup& setup, const StepResult& result, Record& record);

}  // namespace athanor
