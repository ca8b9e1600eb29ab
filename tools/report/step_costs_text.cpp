#include "tools/report/step_costs_text.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace athanor {

namespace {

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
  std::string line = fmt::format("#   energy: {} a step ({})", energy_text(*costs.energy_j), fmt::join(parts, ", "));
  if (tokens_of(step) > 0) { line += fmt::format(", {:.3g} tokens per joule", tokens_of(step) / *costs.energy_j); }
  if (costs.electricity_usd) { line += fmt::format(", {:.3g} USD of electricity", *costs.electricity_usd); }
  return line + "\n";
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
      fmt::format("#   rent: {} USD a step at {} USD per GPU-hour", range_text(*costs.rent_usd), rents_text(figures));
  if (tokens_of(step) > 0) {
    line += fmt::format(", {} USD per million tokens", range_text(*costs.rent_usd, 1e6 / tokens_of(step)));
  }
  return line + "\n";
}

/// How many such steps a whole training is; none where nobody said.
std::optional<double> steps_of(const StepResult& step, const CostFigures& figures) {
  if (!figures.tokens || tokens_of(step) == 0) { return std::nullopt; }
  return *figures.tokens / tokens_of(step);
}

std::string training_line(const StepResult& step, const StepCosts& costs, double steps) {
  std::string line = fmt::format("#   whole training: {:.3g} days", steps * seconds(step.time) / kSecondsPerDay);
  if (costs.energy_j) { line += ", " + bill_text(steps * *costs.energy_j / kJoulesPerKwh); }
  if (costs.rent_usd) { line += fmt::format(", {} million USD of rent", range_text(*costs.rent_usd, steps * 1e-6)); }
  return line + "\n";
}

nlohmann::ordered_json range_json(const UsdRange& range, double factor) {
  return {range.least * factor, range.most * factor};
}

}  // namespace

std::string step_costs_lines(const StepResult& step, const StepCosts& costs, const CostFigures& figures) {
  std::string lines;
  if (costs.energy_j) { lines += energy_line(step, costs); }
  if (costs.rent_usd) { lines += rent_line(step, costs, figures); }
  const std::optional<double> steps = steps_of(step, figures);
  if (steps) { lines += training_line(step, costs, *steps); }
  return lines;
}

void add_step_costs(const StepResult& step, const StepCosts& costs, const CostFigures& figures,
                    nlohmann::ordered_json& json) {
  const double tokens = tokens_of(step);
  const auto add = [&](const char* key, std::optional<double> value) {
    if (value) { json[key] = *value; }
  };
  add("energy_j", costs.energy_j);
  add("gpu_energy_j", costs.gpu_j);
  add("node_energy_j", costs.node_j);
  add("switch_energy_j", costs.switch_j);
  add("electricity_usd", costs.electricity_usd);
  if (costs.energy_j && tokens > 0) { json["tokens_per_j"] = tokens / *costs.energy_j; }
  if (costs.rent_usd) { json["cost_usd"] = range_json(*costs.rent_usd, 1); }
  if (costs.rent_usd && tokens > 0) { json["usd_per_million_tokens"] = range_json(*costs.rent_usd, 1e6 / tokens); }
  const std::optional<double> steps = steps_of(step, figures);
  if (!steps) { return; }
  json["training_days"] = *steps * seconds(step.time) / kSecondsPerDay;
  if (costs.energy_j) { json["training_energy_kwh"] = *steps * *costs.energy_j / kJoulesPerKwh; }
  if (costs.rent_usd) { json["training_cost_usd"] = range_json(*costs.rent_usd, *steps); }
}

}  // namespace athanor
