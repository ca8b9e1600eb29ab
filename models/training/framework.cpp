#include "models/training/framework.hpp"

#include <algorithm>

namespace athanor {

std::string_view name(PlanCondition condition) {
  switch (condition) {
    case PlanCondition::always: return "always";
    case PlanCondition::pipelined: return "pipelined";
    case PlanCondition::interleaved: return "interleaved";
    case PlanCondition::fp16: return "fp16";
    case PlanCondition::narrow: return "narrow";
  }
  return "";
}

bool holds(PlanCondition condition, const ParallelPlan& plan) {
  switch (condition) {
    case PlanCondition::always: return true;
    case PlanCondition::pipelined: return plan.pipeline > 1;
    case PlanCondition::interleaved: return plan.virtual_stages > 1;
    case PlanCondition::fp16: return plan.precision == Precision::fp16;
    case PlanCondition::narrow: return plan.precision == Precision::fp8 || plan.precision == Precision::fp4;
  }
  return false;
}

Bytes setting_of(const BucketDefault& bucket, const ParallelPlan& plan) {
  const std::uint64_t parameters = std::max(bucket.parameters, bucket.parameters_per_copy * plan.data);
  if (parameters == 0) { return bucket.bytes; }
  return Bytes{static_cast<std::int64_t>(parameters * plan.gradient_bytes)};
}

PlanDefaults defaults_of(const Framework& framework, const ParallelPlan& plan) {
  PlanDefaults all;
  for (const FrameworkRule& rule : framework.rules) {
    if (!holds(rule.where, plan)) { continue; }
    for_each_default(rule.set, all, [](const char* /*key*/, const auto& own, auto& merged) {
      if (own) { merged = own; }
    });
  }
  if (all.gradient_bytes && bytes_of(plan.precision) == 4) { all.gradient_bytes = 4; }
  return all;
}

void settle(const FrameworkUse& use, ParallelPlan& plan) {
  if (!use.framework) { return; }
  const PlanDefaults defaults = defaults_of(*use.framework, plan);
  for_each_default(defaults, plan, [&](const char* key, const auto& value, auto& setting) {
    if (value && use.decides(key)) { setting = setting_of(*value, plan); }
  });
}

}  // namespace athanor
