#include "models/training/step/simulate_step.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

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

/// What a lane's GPUs of one kind do.
using PiecesKey = std::pair<std::uint32_t, std::uint32_t>;  ///< micro-batches and kind

Workload work_of(const TrainingSetup& setup, const StepShape& shape) {
  std::map<PiecesKey, StepPieces> pieces;
  std::vector<LaneStep> steps;
  for (const StepLane& lane : shape.lanes.all()) {
    LaneStep& step = steps.emplace_back();
    step.schedule = &shape.schedules.at(lane.micro_batches);
    for (const std::uint32_t kind : lane.kinds) {
      const auto [found, fresh] = pieces.try_emplace({lane.micro_batches, kind});
      if (fresh) { found->second = pieces_on(setup, kind, lane.micro_batches, *step.schedule); }
      step.of_stage.push_back(&found->second);
    }
  }
  return step_workload(setup.plan, shape.lanes, steps);
}

/// Workers are those of the lanes, stage after stage.
std::vector<KindResult> kinds_of(const TrainingSetup& setup, const StepLanes& lanes, const StepResult& step) {
  std::vector<KindResult> kinds(setup.others.size() + 1);
  for (std::size_t worker = 0; worker < step.workload.workers.size(); ++worker) {
    const StepLane& lane = lanes.all()[worker / setup.plan.pipeline];
    KindResult& kind = kinds[lane.kinds[worker % setup.plan.pipeline]];
    kind.ranks += lane.ranks;
    kind.computing += lane.ranks * share(step.workload.workers[worker].computing, step.time);
  }
  for (KindResult& kind : kinds) {
    if (kind.ranks > 0) { kind.computing /= kind.ranks; }
  }
  return kinds;
}

StepResult run_step(const TrainingSetup& setup, const StepLanes& lanes, const Workload& work,
                    const WorkloadEstimates& estimates, WorkloadOptions options) {
  options.interference = setup.compute.interference;
  StepResult result;
  result.workload = run_workload(work, estimates, options);
  result.time = with_stragglers(result.workload.time, setup.plan, setup.compute);
  result.straggler_share = share(result.time - result.workload.time, result.time);
  result.shares = shares_of(result.workload, result.time);
  result.kinds = kinds_of(setup, lanes, result);
  add_rates(setup, result);
  return result;
}

}  // namespace

Time with_stragglers(Time alike, const ParallelPlan& plan, const ComputeProfile& compute) {
  const double growth =
      static_cast<double>(alike.count()) * compute.straggler_growth * straggler_doublings(plan.ranks());
  return alike + Time{std::llround(growth)};
}

StepShape shape_of(const TrainingSetup& setup) {
  static const std::vector<std::uint32_t> alike;
  StepShape shape{StepLanes(setup.plan, setup.others.empty() ? alike : setup.kind_of_rank), {}};
  for (const StepLane& lane : shape.lanes.all()) {
    if (shape.schedules.contains(lane.micro_batches)) { continue; }
    shape.schedules[lane.micro_batches] = schedule_of(with_micro_batches(setup.plan, lane.micro_batches));
  }
  return shape;
}

StepPieces pieces_on(const TrainingSetup& setup, std::uint32_t kind, std::uint32_t micro_batches,
                     const PipelineSchedule& schedule) {
  const GpuKind* other = kind == 0 ? nullptr : &setup.others.at(kind - 1);
  StepPieces pieces =
      step_pieces(setup.model, with_micro_batches(setup.plan, micro_batches), setup.layers, schedule,
                  other == nullptr ? setup.gpu : other->gpu, other == nullptr ? setup.compute : other->compute);
  if (other != nullptr && other->slower != 1) { slow_down(pieces, other->slower); }
  return pieces;
}

PreparedStep::PreparedStep(TrainingSetup setup, CollectiveTimer& timer)
    : setup_(std::move(setup)), shape_(shape_of(setup_)) {
  estimates_ = estimate_all(work_of(setup_, shape_), timer);
  for (const CallEstimate* estimate : estimates_.estimates) { own_estimates_.push_back(*estimate); }
  for (std::size_t i = 0; i < own_estimates_.size(); ++i) { estimates_.estimates[i] = &own_estimates_[i]; }
}

/// Of all compute profiles the same calls and messages in the same order.
StepResult PreparedStep::run(const ComputeProfile& compute, const WorkloadOptions& options) const {
  TrainingSetup setup = setup_;
  setup.compute = compute;
  return run_step(setup, shape_.lanes, work_of(setup, shape_), estimates_, options);
}

Workload workload_of(const TrainingSetup& setup) { return work_of(setup, shape_of(setup)); }

StepResult simulate_step(const TrainingSetup& setup, CollectiveTimer& timer, const WorkloadOptions& options) {
  const StepShape shape = shape_of(setup);
  const Workload work = work_of(setup, shape);
  return run_step(setup, shape.lanes, work, estimate_all(work, timer), options);
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
