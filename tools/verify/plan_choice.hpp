#pragma once

#include <string>
#include <vector>

#include "models/training/step/simulate_step.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// A plan whose step was measured and simulated.
struct PlanTrial {
  std::string name;                      ///< of the case
  std::string release;                   ///< of the software that it was measured with; "": not said
  const TrainingSetup* setup = nullptr;  ///< outlives the trial
  double measured = 0;                   ///< s
  double simulated = 0;                  ///< s
};

/// Whether plans for one training are predicted in the order in which they were measured.
struct PlanChoice {
  std::string model;
  std::uint32_t gpus = 0;
  std::uint32_t global_batch = 0;  ///< sequences
  std::uint32_t sequence = 0;      ///< tokens
  std::size_t plans = 0;           ///< at least 2
  double tau = 0;                  ///< Kendall's, in its form b, where pairs that tie on one side count for less
  std::string predicted;           ///< the fastest, simulated
  std::string measured;            ///< the fastest, measured
  double regret = 0;               ///< measured time of `predicted` / that of `measured` - 1: what the choice costs
};

/// Of the trials that train the same model on as many GPUs of one kind, with as many sequences of one length in a step,
/// in one precision and with one release, in order of appearance. A plan that was measured several times counts once,
/// with the mean; groups of whose plans no two were measured to differ are left out.
std::vector<PlanChoice> plan_choices(const std::vector<PlanTrial>& trials);

/// A line for each, "# plans of ...".
std::string plan_choice_lines(const std::vector<PlanChoice>& choices);
/// One line: the mean and least tau, the mean and greatest regret; "" of none.
std::string plan_choice_summary(const std::vector<PlanChoice>& choices);
/// Elements of a further list of results_json: {"scenario", "model", "gpus", "global_batch", "sequence", "plans",
/// "tau", "predicted", "measured", "regret"}.
std::vector<JsonValue> plan_choice_json(const std::string& scenario, const std::vector<PlanChoice>& choices);

}  // namespace athanor
