#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/training/parallel_plan.hpp"

namespace athanor {

/// In which plans a rule of a framework holds.
enum class PlanCondition : std::uint8_t {
  always,
  pipelined,    ///< two stages or more
  interleaved,  ///< two virtual stages or more
  fp16,         ///< matrices are multiplied in fp16
  narrow,       ///< ... in fp8 or fp4
};

/// "always", "pipelined", ...: as in the file of frameworks.
std::string_view name(PlanCondition condition);
bool holds(PlanCondition condition, const ParallelPlan& plan);

/// Gradients that are reduced at once: bytes, or parameters, whose gradients they are.
struct BucketDefault {
  Bytes bytes{};
  std::uint64_t parameters = 0;
  std::uint64_t parameters_per_copy = 0;  ///< so many times the copies, where that is more

  bool operator==(const BucketDefault&) const = default;
};

/// What a framework does unless told otherwise; what is empty it leaves open.
struct PlanDefaults {
  std::optional<PipelineKind> schedule = {};
  std::optional<bool> overlap_pipeline = {};
  std::optional<Sharding> sharding = {};
  std::optional<std::uint32_t> gradient_bytes = {};
  std::optional<BucketDefault> bucket = {};
  std::optional<std::uint32_t> prefetch = {};
  std::optional<std::uint32_t> shard_calls = {};
  std::optional<bool> gather_again = {};
  std::optional<std::uint32_t> reduce_every = {};
  std::optional<std::uint32_t> master_bytes = {};
  std::optional<std::uint32_t> moment_bytes = {};
  std::optional<bool> fp8_parameters = {};
  std::optional<bool> overlap_gradients = {};
  std::optional<bool> overlap_parameters = {};
  std::optional<bool> sequence_parallel = {};
  std::optional<bool> overlap_tensor = {};
  std::optional<Recompute> recompute = {};
  std::optional<bool> fused_attention = {};
  std::optional<bool> fused_loss = {};
  std::optional<bool> dropout = {};
  std::optional<ExecutionMode> execution = {};
  std::optional<bool> autocast = {};
  std::optional<Fp8Recipe> fp8_recipe = {};
};

/// Calls visit(key, default, setting of the plan) for each: `key` as scenarios have it.
template <class Defaults, class Plan, class Visit>
void for_each_default(Defaults& defaults, Plan& plan, const Visit& visit) {
  visit("schedule", defaults.schedule, plan.schedule);
  visit("overlap_pipeline", defaults.overlap_pipeline, plan.overlap_pipeline);
  visit("sharding", defaults.sharding, plan.sharding);
  visit("gradient_bytes", defaults.gradient_bytes, plan.gradient_bytes);
  visit("bucket", defaults.bucket, plan.bucket);  // behind the bytes of a gradient, which it may count
  visit("prefetch", defaults.prefetch, plan.prefetch);
  visit("shard_calls", defaults.shard_calls, plan.shard_calls);
  visit("gather_again", defaults.gather_again, plan.gather_again);
  visit("reduce_every", defaults.reduce_every, plan.reduce_every);
  visit("master_bytes", defaults.master_bytes, plan.master_bytes);
  visit("moment_bytes", defaults.moment_bytes, plan.moment_bytes);
  visit("fp8_parameters", defaults.fp8_parameters, plan.fp8_parameters);
  visit("overlap_gradients", defaults.overlap_gradients, plan.overlap_gradients);
  visit("overlap_parameters", defaults.overlap_parameters, plan.overlap_parameters);
  visit("sequence_parallel", defaults.sequence_parallel, plan.sequence_parallel);
  visit("overlap_tensor", defaults.overlap_tensor, plan.overlap_tensor);
  visit("recompute", defaults.recompute, plan.recompute);
  visit("fused_attention", defaults.fused_attention, plan.fused_attention);
  visit("fused_loss", defaults.fused_loss, plan.fused_loss);
  visit("dropout", defaults.dropout, plan.dropout);
  visit("execution", defaults.execution, plan.execution);
  visit("autocast", defaults.autocast, plan.autocast);
  visit("fp8_recipe", defaults.fp8_recipe, plan.fp8_recipe);
}

/// What a default is in a plan.
template <class T>
T setting_of(const T& value, const ParallelPlan& /*plan*/) {
  return value;
}
Bytes setting_of(const BucketDefault& bucket, const ParallelPlan& plan);

/// Settings that a source tells.
struct FrameworkRule {
  PlanCondition where = PlanCondition::always;
  PlanDefaults set;
  std::string by;      ///< the option or the place that says so
  std::string source;  ///< the document, and its address
};

/// A software that trains, in one release or many. A later rule overrides an earlier one.
struct Framework {
  std::string name;
  std::string summary;
  std::vector<std::string> beyond;  ///< what it does that no setting of a plan says
  std::vector<FrameworkRule> rules;
  std::string measured_as{};  ///< software of measured steps, of which a pool knows how fast it computes; "": of none
};

/// The settings whose rules hold in this plan. Gradients of numbers that have 4 bytes have 4.
PlanDefaults defaults_of(const Framework& framework, const ParallelPlan& plan);

/// The framework of a plan, and which keys it does not decide, since somebody wrote them.
struct FrameworkUse {
  std::shared_ptr<const Framework> framework = {};  ///< null: none is named
  std::set<std::string> told = {};

  bool decides(const std::string& key) const { return framework && !told.contains(key); }
};

/// Gives a plan what its framework does where nobody said otherwise. To be called again where degrees, precision or
/// schedule have changed.
void settle(const FrameworkUse& use, ParallelPlan& plan);

}  // namespace athanor
