#pragma once

#include <cstdint>

#include "models/training/pipeline/times.hpp"

namespace athanor {

/// A zero-bubble schedule for passes of unequal length. `memory`: activations that a stage may keep, of micro-batches
/// through a whole stage, each until its weights are done; at least 1. What the drawn schedules keep: `stages` (zb_h1,
/// zb_v), 2 * stages - 1 (zb_h2).
///
/// The best (least PipelineTimes::longest(), then least end()) of: the drawn schedule where it keeps no more than
/// `memory`; its forwards and backwards in its order with the weights put in where a stage would wait for longer than
/// they take, or memory is used up; and schedules that are made greedily: whenever a stage is free it does the
/// backward of inputs that is deepest in the model, or else the deepest forward (or the other way round) for which
/// there is memory, or else weights. As in Qi et al. 2024, section 3.1, each is tried with and without filling of gaps
/// that are shorter than weights take. Fit is as of pipeline_schedule(). Requires zb_h1, zb_h2 or zb_v.
PipelineSchedule timed_pipeline_schedule(PipelineKind kind, std::uint32_t stages, std::uint32_t micro_batches,
                                         const PipelineDurations& durations, std::uint32_t memory);

}  // namespace athanor
