#include "models/experiments/step_costs_columns.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace athanor {

namespace {

constexpr Column kEnergy{"energy_j"};               ///< of a step: [all](models.md#energy-and-rent)
constexpr Column kGpuEnergy{"gpu_energy_j"};        ///< of a step: GPUs
constexpr Column kNodeEnergy{"node_energy_j"};      ///< of a step: nodes without their GPUs
constexpr Column kSwitchEnergy{"switch_energy_j"};  ///< of a step: switches
constexpr Column kElectricity{"electricity_usd"};   ///< of a step
constexpr Column kTokensPerJoule{"tokens_per_j"};   ///< of a step
constexpr Column kCost{"cost_usd"};                 ///< rent of a step, from the cheapest to the dearest offer
constexpr Column kCostPerMillionTokens{"usd_per_million_tokens"};  ///< rent, from the cheapest to the dearest offer
constexpr Column kTrainingDays{"training_days"};          ///< of the whole training, where `costs` say its `tokens`
constexpr Column kTrainingEnergy{"training_energy_kwh"};  ///< of the whole training
constexpr Column kTrainingCost{"training_cost_usd"};      ///< of the whole training

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kSecondsPerDay = 86400;

double tokens_of(const StepResult& step) { return step.tokens_per_s * seconds(step.time); }

std::string energy_text(double joules) {
  for (const auto& [scale, unit] : {std::pair{1e9, "GJ"}, std::pair{1e6, "MJ"}, std::pair{1e3, "kJ"}}) {
    if (joules >= scale) { return fmt::format("{:.3g} {}", joules / scale, unit); }
  }
  return fmt::format("{:.3g} J", joules);
}

/// An energy as bills say it: "13.6 GWh".
std::string bill_text(double kwh) {
  for (const auto& [scale, unit] : {std::pair{1e6, "GWh"}, std::pair{1e3, "MWh"}}) {
    if (kwh >= scale) { return fmt::format("{:.3g} {}", kwh / scale, unit); }
  }
  return fmt::format("{:.3g} kWh", kwh);
}

/// "12.3" or "12.3 to 31".
std::string range_text(const UsdRange& range, double factor = 1) {
  if (range.least == range.most) { return fmt::format("{:.3g}", range.least * factor); }
  return fmt::format("{:.3g} to {:.3g}", range.least * factor, range.most * factor);
}

std::string energy_line(const StepResult& step, const StepCosts& costs) {
  std::vector<std::string> parts{fmt::format("GPUs {}", energy_text(*costs.gpu_j))};
  if (costs.node_j) { parts.push_back(fmt::format("rest of the nodes {}", energy_text(*costs.node_j))); }
  if (costs.switch_j) { parts.push_back(fmt::format("switches {}", energy_text(*costs.switch_j))); }
  std::string line = fmt::format("energy: {} a step ({})", energy_text(*costs.energy_j), fmt::join(parts, ", "));
  if (tokens_of(step) > 0) { line += fmt::format(", {:.3g} tokens per joule", tokens_of(step) / *costs.energy_j); }
  if (costs.electricity_usd) { line += fmt::format(", {:.3g} USD of electricity", *costs.electricity_usd); }
  return line;
}

/// Of each kind of GPU: "2 to 3 and 1.5".
std::string rents_text(const CostFigures& figures) {
  std::vector<std::string> parts;
  for (const GpuFigures& gpu : figures.gpus) {
    parts.push_back(gpu.usd_per_hour ? range_text(*gpu.usd_per_hour) : "?");
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string rent_line(const StepResult& step, const StepCosts& costs, const CostFigures& figures) {
  std::string line =
      fmt::format("rent: {} USD a step at {} USD per GPU-hour", range_text(*costs.rent_usd), rents_text(figures));
  if (tokens_of(step) > 0) {
    line += fmt::format(", {} USD per million tokens", range_text(*costs.rent_usd, 1e6 / tokens_of(step)));
  }
  return line;
}

/// How many such steps a whole training is; none where nobody said.
std::optional<double> steps_of(const StepResult& step, const CostFigures& figures) {
  if (!figures.tokens || tokens_of(step) == 0) { return std::nullopt; }
  return *figures.tokens / tokens_of(step);
}

std::string training_line(const StepResult& step, const StepCosts& costs, double steps) {
  std::string line = fmt::format("whole training: {:.3g} days", steps * seconds(step.time) / kSecondsPerDay);
  if (costs.energy_j) { line += ", " + bill_text(steps * *costs.energy_j / kJoulesPerKwh); }
  if (costs.rent_usd) { line += fmt::format(", {} million USD of rent", range_text(*costs.rent_usd, steps * 1e-6)); }
  return line;
}

JsonValue range_json(const UsdRange& range, double factor) {
  return std::vector<double>{range.least * factor, range.most * factor};
}

}  // namespace

void remark_step_costs(const StepResult& step, const StepCosts& costs, const CostFigures& figures, Record& record) {
  if (costs.energy_j) { record.remarks.push_back(energy_line(step, costs)); }
  if (costs.rent_usd) { record.remarks.push_back(rent_line(step, costs, figures)); }
  const std::optional<double> steps = steps_of(step, figures);
  if (steps) { record.remarks.push_back(training_line(step, costs, *steps)); }
}

void put_step_costs(const StepResult& step, const StepCosts& costs, const CostFigures& figures, Record& record) {
  const double tokens = tokens_of(step);
  record.put_if(kEnergy, costs.energy_j);
  record.put_if(kGpuEnergy, costs.gpu_j);
  record.put_if(kNodeEnergy, costs.node_j);
  record.put_if(kSwitchEnergy, costs.switch_j);
  record.put_if(kElectricity, costs.electricity_usd);
  if (costs.energy_j && tokens > 0) { record.put(kTokensPerJoule, tokens / *costs.energy_j); }
  if (costs.rent_usd) { record.put(kCost, range_json(*costs.rent_usd, 1)); }
  if (costs.rent_usd && tokens > 0) { record.put(kCostPerMillionTokens, range_json(*costs.rent_usd, 1e6 / tokens)); }
  const std::optional<double> steps = steps_of(step, figures);
  if (!steps) { return; }
  record.put(kTrainingDays, *steps * seconds(step.time) / kSecondsPerDay);
  if (costs.energy_j) { record.put(kTrainingEnergy, *steps * *costs.energy_j / kJoulesPerKwh); }
  if (costs.rent_usd) { record.put(kTrainingCost, range_json(*costs.rent_usd, *steps)); }
}

}  // namespace athanor
