#include "models/experiments/scenario/plan_names.hpp"

namespace athanor {

namespace {

template <class Kind>
Names<Kind> named(const std::vector<Kind>& kinds) {
  std::vector<Named<Kind>> all;
  for (const Kind kind : kinds) { all.push_back({name(kind), kind}); }
  return Names<Kind>(std::move(all));
}

}  // namespace

const Names<PipelineKind>& names_of(PipelineKind /*kind*/) {
  static const Names<PipelineKind> names =
      named<PipelineKind>({PipelineKind::gpipe, PipelineKind::one_f_one_b, PipelineKind::interleaved,
                           PipelineKind::zb_h1, PipelineKind::zb_h2, PipelineKind::zb_v, PipelineKind::dual_pipe});
  return names;
}

const Names<Sharding>& names_of(Sharding /*kind*/) {
  static const Names<Sharding> names =
      named<Sharding>({Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters});
  return names;
}

const Names<Recompute>& names_of(Recompute /*kind*/) {
  static const Names<Recompute> names = named<Recompute>({Recompute::none, Recompute::selective, Recompute::full});
  return names;
}

const Names<RecomputeModule>& names_of(RecomputeModule /*module*/) {
  static const Names<RecomputeModule> names = named<RecomputeModule>(all_recompute_modules());
  return names;
}

const Names<ExecutionMode>& names_of(ExecutionMode /*kind*/) {
  static const Names<ExecutionMode> names = named<ExecutionMode>(
      {ExecutionMode::eager, ExecutionMode::fused, ExecutionMode::compiled, ExecutionMode::cuda_graphs});
  return names;
}

const Names<Fp8Recipe>& names_of(Fp8Recipe /*kind*/) {
  static const Names<Fp8Recipe> names =
      named<Fp8Recipe>({Fp8Recipe::delayed, Fp8Recipe::current, Fp8Recipe::blockwise, Fp8Recipe::mxfp8});
  return names;
}

const Names<OptimizerKind>& names_of(OptimizerKind /*kind*/) {
  static const Names<OptimizerKind> names =
      named<OptimizerKind>({OptimizerKind::adam, OptimizerKind::sgd, OptimizerKind::sgd_momentum,
                            OptimizerKind::adafactor, OptimizerKind::muon, OptimizerKind::adam_8bit});
  return names;
}

const Names<LoraTarget>& names_of(LoraTarget /*target*/) {
  static const Names<LoraTarget> names = named<LoraTarget>(all_lora_targets());
  return names;
}

const Names<BasePrecision>& names_of(BasePrecision /*precision*/) {
  static const Names<BasePrecision> names = named<BasePrecision>({BasePrecision::wide, BasePrecision::nf4});
  return names;
}

/// All but none, which is not written.
const Names<CompressionKind>& names_of(CompressionKind /*kind*/) {
  static const Names<CompressionKind> names =
      named<CompressionKind>({CompressionKind::fp16, CompressionKind::bf16, CompressionKind::fp8, CompressionKind::int8,
                              CompressionKind::top_k, CompressionKind::power_sgd, CompressionKind::one_bit_adam,
                              CompressionKind::zero_plus_plus});
  return names;
}

const Names<PlanCondition>& names_of(PlanCondition /*kind*/) {
  static const Names<PlanCondition> names =
      named<PlanCondition>({PlanCondition::always, PlanCondition::pipelined, PlanCondition::interleaved,
                            PlanCondition::fp16, PlanCondition::narrow});
  return names;
}

}  // namespace athanor
