#include <fmt/core.h>

#include "models/experiments/scenario/training_gpus.hpp"
#include "sim/config/json_value.hpp"
#include "tools/plan/plan_report.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

std::vector<std::string> recomputed_modules(const ParallelPlan& plan) {
  std::vector<std::string> modules;
  if (plan.recompute != Recompute::selective) { return modules; }
  for (const RecomputeModule module : plan.recompute_modules.list()) { modules.emplace_back(name(module)); }
  return modules;
}

Json degrees_json(const ParallelPlan& plan) {
  return {{"gpus", plan.ranks()},
          {"tensor", plan.tensor},
          {"context", plan.context},
          {"pipeline", plan.pipeline},
          {"data", plan.data},
          {"expert", plan.expert},
          {"expert_tensor", plan.expert_tensor},
          {"micro_batch", plan.micro_batch},
          {"micro_batches", plan.micro_batches()},
          {"schedule", name(plan.schedule)},
          {"virtual_stages", plan.virtual_stages},
          {"sharding", name(plan.sharding)},
          {"recompute", name(plan.recompute)},
          {"recompute_modules", recomputed_modules(plan)},
          {"sequence_parallel", plan.sequence_parallel}};
}

Json breakdown_json(const StepParts& parts) {
  const double step = seconds(parts.time);
  Json json = {{"computing", parts.computing_s / step}, {"bubble", parts.bubble_s / step}};
  for (std::size_t use = 0; use < kParallelisms; ++use) {
    json[fmt::format("exposed_{}", name(static_cast<Parallelism>(use)))] = parts.exposed_s[use] / step;
  }
  json["stragglers"] = parts.stragglers_s / step;
  return json;
}

Json ranked_json(const RankedPlan& each) {
  Json json = degrees_json(each.plan);
  json["step_time_s"] = seconds(each.parts.time);
  if (each.tokens_per_s > 0) { json["tokens_per_s"] = each.tokens_per_s; }
  json["samples_per_s"] = each.samples_per_s;
  json["tflops_per_gpu"] = each.tflops_per_gpu;
  json["mfu"] = each.mfu;
  json["memory_gb"] = each.memory.total() * 1e-9;
  json["breakdown"] = breakdown_json(each.parts);
  return json;
}

Json unfit_json(const UnfitPlan& each) {
  Json json = degrees_json(each.plan);
  json["memory_gb"] = each.memory.total() * 1e-9;
  json["bound_s"] = seconds(each.bound);
  return json;
}

}  // namespace

std::vector<Json> plans_json(const PlanReport& report) {
  std::vector<Json> all;
  for (const RankedPlan& each : report.result.best) {
    Json json = {{"rank", all.size() + 1},
                 {"scenario", report.scenario},
                 {"case", report.case_name},
                 {"model", report.setup.model.name},
                 {"gpu", gpu_names(report.setup)}};
    json.update(ranked_json(each));
    if (report.expected_error) {
      json["step_time_low_s"] = seconds(each.parts.time) * report.expected_error->low;
      json["step_time_high_s"] = seconds(each.parts.time) * report.expected_error->high;
      json["known"] = name(report.expected_error->knowledge);
      if (!all.empty()) { json["first_is_faster"] = certainty_of_first(report, all.size()); }
    }
    json["why"] = all.empty() ? shares_text(each.parts) : difference_text(each.parts, report.result.best.front().parts);
    all.push_back(std::move(json));
  }
  return all;
}

Json search_json(const PlanReport& report) {
  const PlanSearchResult& result = report.result;
  Json json = {{"plans", result.plans},        {"refused", result.refused},     {"unfit", result.unfit},
               {"bounded", result.bounded},    {"simulated", result.simulated}, {"complete", result.complete},
               {"room_gb", report.room * 1e-9}};
  if (report.setup.framework.framework) { json["framework"] = report.setup.framework.framework->name; }
  if (result.own) {
    json["own"] = ranked_json(*result.own);
    json["own"]["first_place"] = result.own_first;
    json["own"]["last_place"] = result.own_last;
  }
  if (!report.own_fault.empty()) { json["own_fault"] = report.own_fault; }
  if (result.miss) { json["nearest_miss"] = unfit_json(*result.miss); }
  if (result.smallest) {
    json["smallest"] = unfit_json(*result.smallest);
    json["advice"] = report.advice;
  }
  return json;
}

}  // namespace athanor
