#pragma once

#include "models/experiments/record.hpp"
#include "models/training/step/step_costs.hpp"

namespace athanor {

/// Puts energy and costs of a step, and of a whole training where its tokens are said: those that are known.
void put_step_costs(const StepResult& step, const StepCosts& costs, const CostFigures& figures, Record& record);

/// The same as remarks; none where nothing is known. `step`: what was simulated.
void remark_step_costs(const StepResult& step, const StepCosts& costs, const CostFigures& figures, Record& record);

}  // namespace athanor
