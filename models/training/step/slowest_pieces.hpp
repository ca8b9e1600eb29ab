#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/training/parallel_plan.hpp"
#include "models/training/pipeline/schedule.hpp"
#include "models/training/step/pieces.hpp"

namespace athanor {

/// By kind of GPU, how many ranks are of it; none without ranks.
using KindCounts = std::map<std::uint32_t, std::uint32_t>;

/// How many ranks of which kind of GPU each pipeline stage has.
std::vector<KindCounts> kinds_of_stages(const ParallelPlan& plan, const std::vector<std::uint32_t>& kind_of_rank);

/// What unequal GPUs do together: the ranks of a stage do the same and wait for each other, so that each piece takes as
/// long as the slowest kind that is in one of its stages needs. `by_kind`: the same step on each kind alone.
StepPieces slowest(const std::vector<StepPieces>& by_kind, const std::vector<KindCounts>& kinds_of_stages,
                   const PipelineSchedule& schedule);

}  // namespace athanor
