#pragma once

#include <cstdint>
#include <vector>

#include "models/training/architecture.hpp"
#include "models/training/compute_profile.hpp"
#include "models/training/parallel_plan.hpp"
#include "models/training/parameter_share.hpp"
#include "models/training/pipeline/schedule.hpp"
#include "models/training/step/pieces.hpp"

namespace athanor {

/// What the layers of a model are and how long they take on one GPU. `layers`: by place; layers that predict further
/// tokens are on the last place beside them. Requires contradictions(model, plan) to be empty.
///
/// Tensor parallelism communicates as Megatron-LM does (Korthikanti et al. 2022, section 4; core 0.11:
/// megatron/core/tensor_parallel/layers.py): an all-reduce behind attention and behind the MLP, and in backward before
/// them, beside the gradients of weights; with sequence parallelism all-gather and reduce-scatter in their place, and
/// what was gathered is gathered once more for the gradients of weights. With overlap_tensor they run in as many pieces
/// as there are ranks beside the products that make or need them, all but one piece hidden. Context ranks gather keys
/// and values beside attention. Expert ranks exchange tokens before and after the experts.
StepPieces step_pieces(const TrainedModel& model, const ParallelPlan& plan, const std::vector<std::uint32_t>& layers,
                       const PipelineSchedule& schedule, const GpuRates& gpu, const ComputeProfile& profile);

/// How long the optimizer of a GPU takes that computes with these parameters.
Time optimizer_time(const ParameterShare& held, const ParallelPlan& plan, const GpuRates& gpu,
                    const ComputeProfile& profile);

/// All that is computed takes `times` as long.
void slow_down(StepPieces& step, double times);

}  // namespace athanor
