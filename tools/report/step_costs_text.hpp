#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "models/training/step/step_costs.hpp"

namespace athanor {

/// Energy and costs of a step, and of a whole training where its tokens are said, as lines that start with '#'; ""
/// where nothing is known. `step`: what was simulated.
std::string step_costs_lines(const StepResult& step, const StepCosts& costs, const CostFigures& figures);

/// Adds "energy_j", "gpu_energy_j", "node_energy_j", "switch_energy_j", "electricity_usd", "tokens_per_j", "cost_usd"
/// and "usd_per_million_tokens" (both [least, most]), and of a whole training "training_days", "training_energy_kwh"
/// and "training_cost_usd": those that are known.
void add_step_costs(const StepResult& step, const StepCosts& costs, const CostFigures& figures,
                    nlohmann::ordered_json& json);

}  // namespace athanor
