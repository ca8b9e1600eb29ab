#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "tools/verify/plan_choice.hpp"
#include "tools/verify/verdict.hpp"

namespace athanor {

/// Whether a case is a step that was measured: its reference is one time.
bool is_measured_step(const Case& scenario_case);

/// How far the steps of one scenario are from measured ones.
struct VerifiedSteps {
  std::string scenario;             ///< its path
  std::vector<double> errors;       ///< simulated / measured - 1, by case
  std::vector<PlanChoice> choices;  ///< among plans for one training
  std::size_t with_interval = 0;
  std::size_t inside = 0;  ///< measured steps that lie within the interval of the simulated one
  bool passed = true;      ///< the limits of the command line, else of the scenario
  bool interrupted = false;

  /// The smallest of the errors' sizes that so large a share of them does not exceed; requires an error.
  double size_at(std::size_t percent) const;
  double median() const;  ///< of the errors themselves
};

/// Simulates the measured steps of a scenario, prints a line for each and one for all where there are several, and
/// collects their rows. Those of its cases that are none are left out.
VerifiedSteps verify_steps(const Scenario& scenario, const VerifyOptions& options, const Streams& streams,
                           ResultSink& sink);

/// A line for each scenario, under a header, and one for all choices among plans; nothing where there is none.
std::string step_table_lines(const std::vector<VerifiedSteps>& tables);
/// Elements of a further list of results_json: {"scenario", "steps", "median_error", "p90_error", "median"}, and
/// "within_interval" where steps have one.
std::vector<JsonValue> step_table_json(const std::vector<VerifiedSteps>& tables);

}  // namespace athanor
