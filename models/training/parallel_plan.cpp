#include "models/training/parallel_plan.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/training/adapters.hpp"
#include "models/training/architecture.hpp"
#include "models/training/compression_faults.hpp"
#include "models/training/expert_ranks.hpp"
#include "models/training/parameter_share.hpp"

namespace athanor {

std::string_view name(PipelineKind kind) {
  switch (kind) {
    case PipelineKind::gpipe: return "gpipe";
    case PipelineKind::one_f_one_b: return "1f1b";
    case PipelineKind::interleaved: return "interleaved";
    case PipelineKind::zb_h1: return "zb_h1";
    case PipelineKind::zb_h2: return "zb_h2";
    case PipelineKind::zb_v: return "zb_v";
    case PipelineKind::dual_pipe: return "dual_pipe";
  }
  return "";
}

std::string_view name(Sharding sharding) {
  switch (sharding) {
    case Sharding::none: return "none";
    case Sharding::optimizer: return "optimizer";
    case Sharding::gradients: return "gradients";
    case Sharding::parameters: return "parameters";
  }
  return "";
}

std::string_view name(Precision precision) {
  switch (precision) {
    case Precision::fp32: return "fp32";
    case Precision::tf32: return "tf32";
    case Precision::fp16: return "fp16";
    case Precision::bf16: return "bf16";
    case Precision::fp8: return "fp8";
    case Precision::fp4: return "fp4";
  }
  return "";
}

double bytes_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32: return 4;
    case Precision::fp16:
    case Precision::bf16: return 2;
    case Precision::fp8: return 1;
    case Precision::fp4: return 0.5;
  }
  return 0;
}

std::string_view name(ExecutionMode execution) {
  switch (execution) {
    case ExecutionMode::eager: return "eager";
    case ExecutionMode::fused: return "fused";
    case ExecutionMode::compiled: return "compiled";
    case ExecutionMode::cuda_graphs: return "cuda_graphs";
  }
  return "";
}

std::string_view name(Fp8Recipe recipe) {
  switch (recipe) {
    case Fp8Recipe::delayed: return "delayed";
    case Fp8Recipe::current: return "current";
    case Fp8Recipe::blockwise: return "blockwise";
    case Fp8Recipe::mxfp8: return "mxfp8";
  }
  return "";
}

bool has_blocks(Fp8Recipe recipe) { return recipe == Fp8Recipe::blockwise || recipe == Fp8Recipe::mxfp8; }

double scale_bytes(Fp8Recipe recipe) {
  switch (recipe) {
    case Fp8Recipe::delayed:
    case Fp8Recipe::current: return 0;
    case Fp8Recipe::blockwise: return 4.0 / 128;
    case Fp8Recipe::mxfp8: return 1.0 / 32;
  }
  return 0;
}

double ParallelPlan::narrow_bytes() const {
  return bytes_of(precision) + (precision == Precision::fp8 ? scale_bytes(fp8_recipe) : 0);
}

double ParallelPlan::cast_bytes() const {
  const bool once = precision == Precision::fp8 && any_order && !has_blocks(fp8_recipe);
  return (once ? 1 : 2) * narrow_bytes();
}

namespace {

/// `parts` divides `whole`, or one of them is a multiple of the other where `either`.
void check_divides(std::uint32_t whole, std::string_view what, std::uint32_t parts, std::string_view ranks, bool either,
                   std::vector<std::string>& faults) {
  if (parts > 0 && (whole % parts == 0 || (either && parts % whole == 0))) { return; }
  faults.push_back(fmt::format("{} {} cannot be spread evenly over {} {} ranks", whole, what, parts, ranks));
}

void check_experts(const Transformer& model, const ParallelPlan& plan, std::vector<std::string>& faults) {
  const Experts& experts = *model.experts;
  check_divides(experts.experts, "experts", plan.expert, "expert", false, faults);
  check_divides(experts.ffn, "elements of an expert", plan.expert_tensor, "expert tensor", false, faults);
  const std::uint32_t ranks = plan.tensor * plan.context * plan.data;
  const std::uint32_t group = std::max(1U, plan.expert * plan.expert_tensor);
  if (ranks % group != 0) {
    faults.push_back(
        fmt::format("expert x expert tensor = {} does not divide tensor x context x data = {}", group, ranks));
  }
  if (plan.expert_tensor != 1 && plan.expert_tensor != plan.tensor) {
    faults.push_back(fmt::format("expert tensor ranks are 1 or as many as tensor ranks ({})", plan.tensor));
  }
  if (plan.tensor > 1 && !plan.sequence_parallel && (plan.expert > 1 || plan.expert_tensor == 1)) {
    faults.emplace_back("tensor ranks beside experts need sequence parallelism: else each of them routes every token");
  }
  if (plan.expert > 0) {
    const std::vector<std::string> own = expert_faults(model, plan);
    faults.insert(faults.end(), own.begin(), own.end());
  }
  if (experts.shared_ffn > 0) {
    check_divides(experts.shared_ffn, "elements of the shared expert", plan.tensor, "tensor", false, faults);
  }
}

/// Copies are of equal size, of what is dense and of experts.
void check_shard_groups(const Transformer& model, const ParallelPlan& plan, std::vector<std::string>& faults) {
  const auto check = [&](std::string_view what, std::uint32_t ranks) {
    if (plan.shard_group == 0 || ranks % std::min(ranks, plan.shard_group) == 0) { return; }
    faults.push_back(
        fmt::format("{} ranks that hold {} cannot be spread evenly over shards of {}", ranks, what, plan.shard_group));
  };
  check("the same layers", dense_replicas(plan));
  if (model.experts && expert_replicas(plan) > 0) { check("the same experts", expert_replicas(plan)); }
}

void check_recompute(const Transformer& model, const ParallelPlan& plan, std::vector<std::string>& faults) {
  if (plan.recompute != Recompute::selective) { return; }
  for (const RecomputeModule module : plan.recompute_modules.list()) {
    const std::string_view missing = lacks(model, module);
    if (missing.empty()) { continue; }
    faults.push_back(fmt::format("recomputing {} needs {}, which {} has not", name(module), missing, model.name));
  }
}

}  // namespace

/// Slices of a matrix on several ranks are no matrices that rows and columns, or all singular values, could be seen in.
std::string sharding_fault(const ParallelPlan& plan) {
  if (!needs_matrices(plan.optimizer) || plan.sharding < Sharding::gradients) { return ""; }
  return fmt::format(
      "{} needs whole matrices, which sharding of {} cuts: share out the optimizer, of which each rank gets whole "
      "matrices "
      "(Megatron Core's layer-wise optimizer), or nothing",
      name(plan.optimizer), name(plan.sharding));
}

std::vector<std::string> contradictions(const Transformer& model, const ParallelPlan& plan) {
  std::vector<std::string> faults;
  check_divides(model.attention.heads, "heads", plan.tensor, "tensor", false, faults);
  if (model.attention.kind == Attention::Kind::grouped) {
    check_divides(model.attention.kv_heads, "heads of keys and values", plan.tensor, "tensor", true, faults);
  }
  check_divides(model.ffn, "elements of the MLP", plan.tensor, "tensor", false, faults);
  const std::uint32_t parts = plan.context * (plan.sequence_parallel ? plan.tensor : 1);
  check_divides(plan.sequence, "tokens", parts, plan.sequence_parallel ? "context x tensor" : "context", false, faults);
  if (model.experts) {
    check_experts(model, plan, faults);
  } else if (plan.expert > 1 || plan.expert_tensor > 1) {
    faults.emplace_back("expert ranks need a model with experts");
  }
  check_shard_groups(model, plan, faults);
  check_recompute(model, plan, faults);
  if (std::string fault = sharding_fault(plan); !fault.empty()) { faults.push_back(std::move(fault)); }
  for (std::string& fault : contradictions_of_adapters(model, plan)) { faults.push_back(std::move(fault)); }
  for (std::string& fault : compression_faults(plan)) { faults.push_back(std::move(fault)); }
  if (plan.context > 1 && !plan.fused_attention) {
    faults.emplace_back("context parallelism needs fused attention: the scores of a whole sequence are on no GPU");
  }
  return faults;
}

}  // namespace athanor
