#include "models/training/step/simulate_step.hpp"

#include <algorithm>
#include <cmath>

#include "models/training/layer_work.hpp"
#include "models/training/step/step_pieces.hpp"
#include "models/training/step/step_workload.hpp"

namespace athanor {

namespace {

double share(Time part, Time whole) { return whole == Time::zero() ? 0 : seconds(part) / seconds(whole); }

void add_rates(const TrainingSetup& setup, StepResult& result) {
  const ParallelPlan& plan = setup.plan;
  const double gpus = plan.ranks();
  result.model_flops = model_flops(setup.model, plan.sequence) * plan.global_batch;
  result.samples_per_s = plan.global_batch / seconds(result.time);
  result.tokens_per_s = setup.model.transformer ? result.samples_per_s * plan.sequence : 0;
  const double per_gpu = result.model_flops / seconds(result.time) / gpus;
  result.tflops_per_gpu = per_gpu * 1e-12;
  result.mfu = per_gpu / peak_of(setup.gpu, plan.precision);
}

}  // namespace

PipelineSchedule schedule_of(const ParallelPlan& plan) {
  const std::uint32_t chunks = plan.schedule == PipelineKind::zb_v ? 2 : plan.virtual_stages;
  return pipeline_schedule(plan.schedule, plan.pipeline, chunks, plan.micro_batches());
}

PreparedStep::PreparedStep(TrainingSetup setup, CallPricer& pricer)
    : setup_(std::move(setup)), schedule_(schedule_of(setup_.plan)) {
  prices_ = price_all(workload(setup_.compute), pricer);
  for (const CallPrice* price : prices_.prices) { own_prices_.push_back(*price); }
  for (std::size_t i = 0; i < own_prices_.size(); ++i) { prices_.prices[i] = &own_prices_[i]; }
}

/// Of all compute profiles the same calls and messages in the same order.
Workload PreparedStep::workload(const ComputeProfile& compute) const {
  const StepPieces pieces =
      step_pieces(setup_.model, setup_.plan, setup_.layers, schedule_, setup_.gpu, compute, setup_.expert_imbalance);
  return step_workload(setup_.plan, schedule_, pieces);
}

StepResult PreparedStep::run(const ComputeProfile& compute, const WorkloadOptions& options) const {
  const Workload work = workload(compute);
  WorkloadOptions own = options;
  own.interference = compute.interference;
  StepResult result;
  result.workload = run_workload(work, prices_, own);
  const double doublings = std::max(0.0, std::log2(setup_.plan.ranks() / 8.0));
  const Time extra{static_cast<std::int64_t>(
      std::llround(static_cast<double>(result.workload.time.count()) * compute.spread * doublings))};
  result.time = result.workload.time + extra;
  result.spread = share(extra, result.time);
  result.shares = shares_of(result.workload, result.time);
  add_rates(setup_, result);
  return result;
}

StepResult simulate_step(const TrainingSetup& setup, CallPricer& pricer, const WorkloadOptions& options) {
  return PreparedStep(setup, pricer).run(setup.compute, options);
}

}  // namespace athanor
