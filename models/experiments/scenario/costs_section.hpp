#pragma once

#include "models/training/step/simulate_step.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// The "costs" of a training.
void read_costs(Fields& fields, CostFigures& costs);

/// What the scenario leaves open the GPU's preset says, where it does.
CostFigures completed(CostFigures figures, const TrainingSetup& setup);

}  // namespace athanor
