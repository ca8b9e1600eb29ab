#pragma once

#include <vector>

#include "models/training/parallel_plan.hpp"
#include "models/training/pipeline/schedule.hpp"
#include "models/training/step/lanes.hpp"
#include "models/training/step/pieces.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// What a lane does: its schedule, and by stage its pieces on the GPUs that it has there. Borrows all.
struct LaneStep {
  const PipelineSchedule* schedule = nullptr;
  std::vector<const StepPieces*> of_stage;
};

/// One training step in the steady state: for each lane a worker for each pipeline stage, which stands for all its
/// ranks (they do the same). Rank r is endpoint r of the cluster. Lanes wait for each other in the collectives of
/// groups that have ranks of several. What the optimizer of the step before leaves to be done beside the first forward,
/// the all-gather of parameters with overlap_parameters, stands at the beginning. Requires a step for each lane, with
/// pieces for every place of the schedule and an optimizer for every stage; schedules that differ in micro-batches
/// alone, and where they do, no group of tensor, context or expert ranks of lanes with unlike ones, and sharding of no
/// more than the optimizer.
Workload step_workload(const ParallelPlan& plan, const StepLanes& lanes, const std::vector<LaneStep>& steps);
/// Of ranks that are all alike.
Workload step_workload(const ParallelPlan& plan, const PipelineSchedule& schedule, const StepPieces& pieces);

}  // namespace athanor
