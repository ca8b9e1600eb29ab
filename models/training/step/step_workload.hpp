#pragma once

#include "models/training/parallel_plan.hpp"
#include "models/training/pipeline/schedule.hpp"
#include "models/training/step/pieces.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// One training step in the steady state: a worker for each pipeline stage, which stands for all its ranks (they do the
/// same). Rank r is endpoint r of the cluster. What the optimizer of the step before leaves to be done beside the first
/// forward, the all-gather of parameters with overlap_parameters, stands at the beginning.
/// Requires pieces for every place of the schedule, and an optimizer for every stage.
Workload step_workload(const ParallelPlan& plan, const PipelineSchedule& schedule, const StepPieces& pieces);

}  // namespace athanor
