#pragma once

#include "models/training/framework.hpp"
#include "models/training/parallel_plan.hpp"
#include "sim/config/limits.hpp"

namespace athanor {

// What scenarios and the file of frameworks write for the kinds of a plan.
const Names<PipelineKind>& names_of(PipelineKind kind);
const Names<Sharding>& names_of(Sharding kind);
const Names<Recompute>& names_of(Recompute kind);
const Names<RecomputeModule>& names_of(RecomputeModule module);
const Names<ExecutionMode>& names_of(ExecutionMode kind);
const Names<Fp8Recipe>& names_of(Fp8Recipe kind);
const Names<OptimizerKind>& names_of(OptimizerKind kind);
const Names<LoraTarget>& names_of(LoraTarget target);
const Names<BasePrecision>& names_of(BasePrecision precision);
const Names<CompressionKind>& names_of(CompressionKind kind);
const Names<PlanCondition>& names_of(PlanCondition kind);

}  // namespace athanor
