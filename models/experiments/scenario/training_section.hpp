#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/experiments/scenario/mixed_section.hpp"
#include "models/experiments/scenario/model_section.hpp"
#include "models/training/measured_with.hpp"
#include "models/training/memory.hpp"
#include "models/training/step/simulate_step.hpp"
#include "sim/config/fields.hpp"
#include "topologies/hardware/gpu.hpp"

namespace athanor {

/// The "training" of a scenario: what is trained how.
struct TrainingConfig {
  ModelSection model;
  ParallelPlan plan;
  FrameworkUse framework;                 ///< whose defaults the plan has
  std::set<std::string> written;          ///< keys of "parallel" that may have nothing to act on
  std::optional<std::uint32_t> data;      ///< absent: what the other degrees leave of the cluster's endpoints
  std::vector<std::uint32_t> layers;      ///< of each place of the model; empty: spread evenly
  MixedConfig mixed;                      ///< of GPUs that are not alike
  std::optional<ComputeProfile> compute;  ///< absent: the one that was fitted on such GPUs
  std::optional<Time> launch;             ///< what these hosts take to dispatch a kernel; absent: the compute profile's
  std::optional<GpuConfig> gpu;           ///< absent: the nodes'
  bool strict = false;                    ///< a model that does not fit into memory is an error
  std::optional<Time> measured;           ///< a step of this on such a machine
  MeasuredWith measured_with;
  std::optional<Ratio> max_error;
  std::optional<Ratio> max_median_error;
  CostFigures costs;  ///< what the machine draws and costs, as far as the scenario says
  SourceLocation place;
};

struct ReadingContext;
/// What is trained how; nothing of what was measured, or of costs.
void visit(Fields& fields, ReadingContext& context, TrainingConfig& config);

class ExperimentReader;
std::unique_ptr<ExperimentReader> training_reader();

}  // namespace athanor
