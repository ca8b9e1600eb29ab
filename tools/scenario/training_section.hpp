#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/training/memory.hpp"
#include "models/training/step/simulate_step.hpp"
#include "models/training/step/step_costs.hpp"
#include "sim/json/object_reader.hpp"
#include "tools/scenario/model_section.hpp"

namespace athanor {

/// The "training" of a scenario: what is trained how.
struct TrainingText {
  ModelSection model;
  ParallelPlan plan;
  std::set<std::string> written;          ///< keys of "parallel" that may have nothing to act on
  std::optional<std::uint32_t> data;      ///< absent: what the other degrees leave of the cluster's endpoints
  std::vector<std::uint32_t> layers;      ///< of each place of the model; empty: spread evenly
  std::optional<ComputeProfile> compute;  ///< absent: the one that was fitted on such GPUs
  std::string gpu;                        ///< of presets; "": the nodes'
  bool strict = false;                    ///< a model that does not fit into memory is an error
  std::optional<Time> measured;           ///< a step of this on such a machine
  std::optional<Ratio> max_error;
  std::optional<Ratio> max_median_error;
  CostFigures costs;  ///< those of the scenario
};

/// A training that can be simulated.
struct Training {
  TrainingSetup setup;
  MemoryUse memory;                   ///< of one GPU of the fullest stage
  bool fits = true;                   ///< into the memory of the smallest GPU, by that estimate
  std::optional<Problem> plan_fault;  ///< why the plan cannot be run; only of scenarios read with an open plan
  std::optional<Time> measured;
  std::optional<Ratio> max_error;         ///< of |simulated / measured - 1|, that `verify` allows
  std::optional<Ratio> max_median_error;  ///< of its median over the measured steps of the scenario
  CostFigures costs;                      ///< of the scenario, else of the GPU's preset
  std::vector<std::string> notes;         ///< what a user may not have meant
};

struct Case;
struct ReadingContext;

/// The key "training" of a case, which it may have in place of a collective; resolved, where its cluster is known.
void read_training(ObjectReader& reader, ReadingContext& context, Case& scenario_case);

}  // namespace athanor
