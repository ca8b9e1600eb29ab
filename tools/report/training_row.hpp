#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/training/step/simulate_step.hpp"
#include "models/training/step/step_costs.hpp"
#include "tools/report/table.hpp"

namespace athanor {

/// A training step, with what it was.
struct TrainingRow {
  std::string scenario;   ///< the file, as it was named
  std::string case_name;  ///< "" in a scenario without cases
  std::string network;    ///< "ideal", "flow", "packet"
  TrainingSetup setup;
  StepResult result;
  double memory = 0;  ///< bytes on one GPU of the fullest stage
  CostFigures figures = {};
  StepCosts costs = {};
  std::optional<Time> measured;
  std::vector<std::string> notes;

  /// simulated / measured - 1. Requires a measurement.
  double error() const;
};

/// "Llama-3.1-405B on 16384 GPUs: tensor 8, pipeline 16 (1f1b), data 128; ...": what is trained how.
std::string describe(const TrainingSetup& setup);

/// What stands above the rows of a case, each row, and behind it where the time went, as lines of text.
/// `tokens`: the rate is of tokens; else of samples.
std::string training_header_lines(const TableHeader& header, bool tokens);
std::string training_row_line(const TrainingRow& row);
std::string training_detail_lines(const TrainingRow& row);

/// A result of --json; keys are stable. Those about a measurement are absent where there is none, and those about
/// energy and costs where nobody said what the machine draws or costs.
nlohmann::ordered_json training_json(const TrainingRow& row);

}  // namespace athanor
