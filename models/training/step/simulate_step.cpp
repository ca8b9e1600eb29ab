#include "models/training/step/simulate_step.hpp"

#include <algorithm>
#include <cmath>

#include "models/training/layer_work.hpp"
#include "models/training/step/step_pieces.hpp"
#include "models/training/step/step_workload.hpp"

namespace athanor {

namespace {

double share(Time part, Time whole) { return whole == Time::zero() ? 0 : seconds(part) / seconds(whole); }

double mean_peak(const TrainingSetup& setup) {
  const double first = peak_of(setup.gpu, setup.plan.precision);
  if (setup.others.empty()) { return first; }
  double sum = 0;
  for (std::uint32_t rank = 0; rank < setup.plan.ranks(); ++rank) {
    const std::uint32_t kind = setup.kind_of_rank.at(rank);
    sum += kind == 0 ? first : peak_of(setup.others[kind - 1].gpu, setup.plan.precision);
  }
  return sum / setup.plan.ranks();
}

void add_rates(const TrainingSetup& setup, StepResult& result) {
  const ParallelPlan& plan = setup.plan;
  const double gpus = plan.ranks();
  result.model_flops = model_flops(setup.model, plan) * plan.global_batch;
  result.samples_per_s = plan.global_batch / seconds(result.time);
  result.tokens_per_s = setup.model.transformer ? result.samples_per_s * plan.sequence : 0;
  const double per_gpu = result.model_flops / seconds(result.time) / gpus;
  result.tflops_per_gpu = per_gpu * 1e-12;
  result.mfu = per_gpu / mean_peak(setup);
}

/// What all ranks do together, and of unequal GPUs by kind and stage, how much of its stage's computing keeps it busy.
struct StepWork {
  Workload workload;
  std::vector<std::vector<double>> busy;
};

/// Of each worker. Which kind of GPU it is decides on nothing but these times.
std::vector<double> computing_of(const Workload& workload) {
  std::vector<double> sums;
  for (const Workload::Worker& worker : workload.workers) {
    double sum = 0;
    for (const Workload::Operation& each : worker.operations) {
      if (each.kind == Workload::Kind::compute && !worker.streams[each.stream].host) { sum += seconds(each.time); }
    }
    sums.push_back(sum);
  }
  return sums;
}

StepWork work_of(const TrainingSetup& setup, const PipelineSchedule& schedule, const ComputeProfile& compute) {
  const auto pieces_on = [&](const GpuRates& gpu, const ComputeProfile& profile) {
    return step_pieces(setup.model, setup.plan, setup.layers, schedule, gpu, profile);
  };
  if (setup.others.empty()) { return {step_workload(setup.plan, schedule, pieces_on(setup.gpu, compute)), {}}; }
  std::vector<StepPieces> by_kind{pieces_on(setup.gpu, compute)};
  for (const GpuKind& other : setup.others) { by_kind.push_back(pieces_on(other.gpu, other.compute)); }
  const auto kinds = kinds_of_stages(setup.plan, setup.kind_of_rank);
  StepWork work{step_workload(setup.plan, schedule, slowest(by_kind, kinds, schedule)), {}};
  const std::vector<double> together = computing_of(work.workload);
  for (const StepPieces& pieces : by_kind) {
    std::vector<double> own = computing_of(step_workload(setup.plan, schedule, pieces));
    for (std::size_t stage = 0; stage < own.size(); ++stage) {
      own[stage] = together[stage] == 0 ? 0 : own[stage] / together[stage];
    }
    work.busy.push_back(std::move(own));
  }
  return work;
}

std::vector<KindResult> kinds_of(const TrainingSetup& setup, const StepWork& work, const StepResult& step) {
  if (setup.others.empty()) { return {{setup.plan.ranks(), step.shares.computing}}; }
  std::vector<KindResult> kinds(work.busy.size());
  const auto of_stages = kinds_of_stages(setup.plan, setup.kind_of_rank);
  for (std::size_t stage = 0; stage < of_stages.size(); ++stage) {
    const double computing = share(step.workload.workers[stage].computing, step.time);
    for (const auto& [kind, ranks] : of_stages[stage]) {
      kinds[kind].ranks += ranks;
      kinds[kind].computing += ranks * computing * work.busy[kind][stage];
    }
  }
  for (KindResult& kind : kinds) {
    if (kind.ranks > 0) { kind.computing /= kind.ranks; }
  }
  return kinds;
}

StepResult run_step(const TrainingSetup& setup, const StepWork& work, const WorkloadEstimates& estimates,
                    const ComputeProfile& compute, WorkloadOptions options) {
  options.interference = compute.interference;
  StepResult result;
  result.workload = run_workload(work.workload, estimates, options);
  result.time = with_stragglers(result.workload.time, setup.plan, compute);
  result.straggler_share = share(result.time - result.workload.time, result.time);
  result.shares = shares_of(result.workload, result.time);
  result.kinds = kinds_of(setup, work, result);
  add_rates(setup, result);
  return result;
}

}  // namespace

Time with_stragglers(Time alike, const ParallelPlan& plan, const ComputeProfile& compute) {
  const double growth =
      static_cast<double>(alike.count()) * compute.straggler_growth * straggler_doublings(plan.ranks());
  return alike + Time{std::llround(growth)};
}

PreparedStep::PreparedStep(TrainingSetup setup, CollectiveTimer& timer)
    : setup_(std::move(setup)), schedule_(schedule_of(setup_.plan)) {
  estimates_ = estimate_all(work_of(setup_, schedule_, setup_.compute).workload, timer);
  for (const CallEstimate* estimate : estimates_.estimates) { own_estimates_.push_back(*estimate); }
  for (std::size_t i = 0; i < own_estimates_.size(); ++i) { estimates_.estimates[i] = &own_estimates_[i]; }
}

/// Of all compute profiles the same calls and messages in the same order.
StepResult PreparedStep::run(const ComputeProfile& compute, const WorkloadOptions& options) const {
  return run_step(setup_, work_of(setup_, schedule_, compute), estimates_, compute, options);
}

Workload workload_of(const TrainingSetup& setup) {
  return work_of(setup, schedule_of(setup.plan), setup.compute).workload;
}

StepResult simulate_step(const TrainingSetup& setup, CollectiveTimer& timer, const WorkloadOptions& options) {
  const StepWork work = work_of(setup, schedule_of(setup.plan), setup.compute);
  StepResult result = run_step(setup, work, estimate_all(work.workload, timer), setup.compute, options);
  return result;
}

namespace {

std::optional<double> joules(std::optional<double> watts, std::uint32_t devices, double time) {
  if (!watts || devices == 0) { return std::nullopt; }
  return *watts * devices * time;
}

/// None where figures of some kind that there is are absent.
std::optional<double> gpu_joules(const StepResult& step, const CostFigures& figures) {
  double watts = 0;
  for (std::size_t kind = 0; kind < step.kinds.size(); ++kind) {
    const auto& [ranks, computing] = step.kinds[kind];
    const GpuFigures& gpu = figures.gpus.at(kind);
    if (ranks == 0) { continue; }
    if (!gpu.w || !gpu.idle_w) { return std::nullopt; }
    watts += ranks * (*gpu.idle_w + (*gpu.w - *gpu.idle_w) * computing);
  }
  return watts * seconds(step.time);
}

std::optional<UsdRange> rent(const StepResult& step, const CostFigures& figures) {
  constexpr double kSecondsPerHour = 3600;
  UsdRange sum{0, 0};
  for (std::size_t kind = 0; kind < step.kinds.size(); ++kind) {
    const std::uint32_t ranks = step.kinds[kind].ranks;
    const std::optional<UsdRange>& price = figures.gpus.at(kind).usd_per_hour;
    if (ranks == 0) { continue; }
    if (!price) { return std::nullopt; }
    const double hours = ranks * seconds(step.time) / kSecondsPerHour;
    sum = {sum.least + hours * price->least, sum.most + hours * price->most};
  }
  return sum;
}

}  // namespace

StepCosts costs_of(const StepResult& step, const CostFigures& figures, const MachineCount& machine) {
  constexpr double kJoulesPerKwh = 3.6e6;
  const double time = seconds(step.time);
  StepCosts costs;
  costs.gpu_j = gpu_joules(step, figures);
  costs.node_j = joules(figures.node_w, machine.nodes, time);
  costs.switch_j = joules(figures.switch_w, machine.switches, time);
  if (costs.gpu_j) {
    costs.energy_j = (*costs.gpu_j + costs.node_j.value_or(0) + costs.switch_j.value_or(0)) * figures.pue;
    if (figures.usd_per_kwh) { costs.electricity_usd = *costs.energy_j / kJoulesPerKwh * *figures.usd_per_kwh; }
  }
  costs.rent_usd = rent(step, figures);
  return costs;
}

}  // namespace athanor
