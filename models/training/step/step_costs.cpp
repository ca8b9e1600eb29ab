#include "models/training/step/step_costs.hpp"

namespace athanor {

namespace {

std::optional<double> joules(std::optional<double> watts, std::uint32_t devices, double time) {
  if (!watts || devices == 0) { return std::nullopt; }
  return *watts * devices * time;
}

}  // namespace

StepCosts costs_of(const StepResult& step, const CostFigures& figures, const MachineCount& machine) {
  constexpr double kJoulesPerKwh = 3.6e6;
  constexpr double kSecondsPerHour = 3600;
  const double time = seconds(step.time);
  StepCosts costs;
  if (figures.gpu_w && figures.gpu_idle_w) {
    const double watts = *figures.gpu_idle_w + (*figures.gpu_w - *figures.gpu_idle_w) * step.shares.computing;
    costs.gpu_j = watts * machine.gpus * time;
  }
  costs.node_j = joules(figures.node_w, machine.nodes, time);
  costs.switch_j = joules(figures.switch_w, machine.switches, time);
  if (costs.gpu_j) {
    costs.energy_j = (*costs.gpu_j + costs.node_j.value_or(0) + costs.switch_j.value_or(0)) * figures.pue;
    if (figures.usd_per_kwh) { costs.electricity_usd = *costs.energy_j / kJoulesPerKwh * *figures.usd_per_kwh; }
  }
  if (figures.usd_per_gpu_hour) {
    const double hours = machine.gpus * time / kSecondsPerHour;
    costs.rent_usd = {hours * figures.usd_per_gpu_hour->least, hours * figures.usd_per_gpu_hour->most};
  }
  return costs;
}

}  // namespace athanor
