#include "models/training/step/step_costs.hpp"

namespace athanor {

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
