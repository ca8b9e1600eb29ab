#include "tools/calibrate/training/held_out_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tools/calibrate/pool/scatter.hpp"

namespace athanor {

namespace {

/// What becomes of a step in one trial.
enum class Role : std::uint8_t { told, anchor, judged, ignored };
using Roles = std::vector<Role>;

/// A fit that begins without what the judged steps' software alone tells.
std::vector<double> fit_for(const PooledSteps& steps, const StepPoolFit& whole, const Roles& roles) {
  std::vector<double> weights;
  std::vector<bool> anchors;
  std::set<std::string> unseen;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    weights.push_back(roles[i] == Role::told || roles[i] == Role::anchor ? 1 : 0);
    anchors.push_back(roles[i] == Role::anchor);
    if (roles[i] != Role::judged) { continue; }
    unseen.insert("table " + steps.table(i));
    unseen.insert("software " + steps.parts(i).software);
  }
  std::vector<double> start = whole.posterior.mode;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (unseen.contains(steps.effects()[i].name)) { start[i] = 0; }
  }
  return posterior(steps.estimates(std::move(weights), std::move(anchors)), spreads_of(steps.effects(), whole.spreads),
                   std::move(start), kOnEstimates)
      .mode;
}

std::vector<std::size_t> places_of(const Roles& roles, Role role) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] == role) { result.push_back(i); }
  }
  return result;
}

/// The steps of each table, in its order.
std::map<std::string, std::vector<std::size_t>> by_table(const PooledSteps& steps) {
  std::map<std::string, std::vector<std::size_t>> result;
  for (std::size_t i = 0; i < steps.steps().size(); ++i) { result[steps.table(i)].push_back(i); }
  return result;
}

/// All told but those of the software; of these `some` as said.
Roles without(const PooledSteps& steps, const std::string& software, const std::vector<std::size_t>& some, Role role) {
  Roles roles(steps.steps().size(), Role::told);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (steps.parts(i).software == software) { roles[i] = Role::ignored; }
  }
  for (const std::size_t i : some) { roles[i] = role; }
  return roles;
}

std::vector<Roles> trials_of_table(const PooledSteps& steps, const std::vector<std::size_t>& table, HeldOutSteps what) {
  std::vector<Roles> trials;
  const Roles all(steps.steps().size(), Role::told);
  const std::string& software = steps.parts(table.front()).software;
  switch (what) {
    case HeldOutSteps::nothing: break;
    case HeldOutSteps::software: trials.push_back(without(steps, software, table, Role::judged)); break;
    case HeldOutSteps::one_step:
      trials.push_back(without(steps, software, table, Role::judged));
      trials.back()[table[table.size() / 2]] = Role::anchor;  // ends of a table are extremes
      break;
    case HeldOutSteps::steps:
      for (const std::size_t fold : {0U, 1U}) {
        trials.push_back(all);
        for (std::size_t i = fold; i < table.size() && table.size() > 1; i += 2) {
          trials.back()[table[i]] = Role::judged;
        }
      }
      break;
    case HeldOutSteps::models: {
      std::map<std::string, std::vector<std::size_t>> by_model;
      for (const std::size_t i : table) { by_model[steps.steps()[i].model].push_back(i); }
      for (const auto& [model, some] : by_model) {
        if (by_model.size() == 1) { break; }
        trials.push_back(all);
        for (const std::size_t i : some) { trials.back()[i] = Role::judged; }
      }
    }
  }
  return trials;
}

HeldOutSteps held_out_of(StepKnowledge knowledge) {
  switch (knowledge) {
    case StepKnowledge::steps: return HeldOutSteps::steps;
    case StepKnowledge::models: return HeldOutSteps::models;
    case StepKnowledge::one_step: return HeldOutSteps::one_step;
    case StepKnowledge::nothing: return HeldOutSteps::software;
  }
  return HeldOutSteps::nothing;
}

/// Tables by number, in the order of their steps.
std::vector<std::size_t> table_numbers(const PooledSteps& steps) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < steps.steps().size(); ++i) {
    result.push_back(numbers.try_emplace(steps.table(i), numbers.size()).first->second);
  }
  return result;
}

}  // namespace

namespace {

using Predict = std::function<std::vector<double>(const Roles& roles, const std::vector<std::size_t>& judged)>;

std::vector<double> hold_out(const PooledSteps& steps, HeldOutSteps what, const Predict& predict) {
  std::vector<double> result(steps.steps().size(), std::numeric_limits<double>::quiet_NaN());
  for (const auto& [name, table] : by_table(steps)) {
    for (const Roles& roles : trials_of_table(steps, table, what)) {
      const std::vector<std::size_t> judged = places_of(roles, Role::judged);
      if (judged.empty()) { continue; }
      const std::vector<double> residuals = predict(roles, judged);
      for (const std::size_t i : judged) { result[i] = residuals[i]; }
    }
  }
  return result;
}

}  // namespace

std::vector<double> hold_out(const PooledSteps& steps, const StepPoolFit& fit, HeldOutSteps what) {
  if (what == HeldOutSteps::nothing) {
    std::vector<double> result;
    for (const MeasuredStep& step : steps.steps()) {
      result.push_back(std::log(seconds(step.simulated.time) / seconds(step.measured)));
    }
    return result;
  }
  return hold_out(steps, what, [&](const Roles& roles, const std::vector<std::size_t>& judged) {
    return steps.simulated(judged, fit_for(steps, fit, roles));
  });
}

std::vector<double> hold_out(const PooledSteps& steps, SimpleRule rule, HeldOutSteps what) {
  return hold_out(steps, what, [&](const Roles& roles, const std::vector<std::size_t>& judged) {
    // One step of one's own tells more of the table than many of others.
    const std::vector<std::size_t> own = places_of(roles, Role::anchor);
    return guessed(steps, rule, own.empty() ? places_of(roles, Role::told) : own, judged);
  });
}

std::vector<StepError> step_errors(const PooledSteps& steps, const HeldOutStepResiduals& residuals,
                                   const std::function<bool(std::size_t step)>& counts) {
  const std::vector<std::size_t> tables = table_numbers(steps);
  std::vector<StepError> result;
  for (const StepKnowledge knowledge : kStepKnowledges) {
    const std::vector<double>& of_steps = residuals.at(static_cast<std::size_t>(held_out_of(knowledge)));
    std::vector<HeldOutError> rows;
    for (std::size_t i = 0; i < of_steps.size(); ++i) {
      if (std::isnan(of_steps[i]) || !counts(i)) { continue; }
      rows.push_back({tables[i], steps.parts(i).software, -of_steps[i]});
    }
    if (rows.empty()) { continue; }
    const Scatter scatter = scatter_of(rows);
    result.push_back({knowledge, scatter.low, scatter.high, scatter.shared, scatter.tables});
  }
  return result;
}

std::vector<StepCoverage> step_coverage(const PooledSteps& steps, const HeldOutStepResiduals& residuals) {
  const std::vector<std::size_t> tables = table_numbers(steps);
  std::map<StepKnowledge, CoverageCount> counts;
  std::map<std::string, std::vector<StepError>> of_others;  // by software
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string& own = steps.parts(i).software;
    const auto [others, is_new] = of_others.try_emplace(own);
    if (is_new) {
      others->second =
          step_errors(steps, residuals, [&](std::size_t step) { return steps.parts(step).software != own; });
    }
    for (const StepError& each : others->second) {
      const std::vector<double>& of_steps = residuals.at(static_cast<std::size_t>(held_out_of(each.knowledge)));
      if (std::isnan(of_steps[i])) { continue; }
      counts[each.knowledge].add(tables[i], -of_steps[i], each.low, each.high);
    }
  }
  std::vector<StepCoverage> result;
  for (const auto& [knowledge, count] : counts) { result.push_back({knowledge, count.share(), count.median_width()}); }
  return result;
}

}  // namespace athanor
