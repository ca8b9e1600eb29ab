#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "models/training/step/simulate_step.hpp"
#include "tools/calibrate/training/step_estimate.hpp"

namespace athanor {

/// A training step that somebody measured, ready to be simulated with any compute profile.
struct MeasuredStep {
  std::string table;  ///< the scenario's file
  std::string name;   ///< of the case
  std::string model;
  std::uint32_t gpus = 1;
  Time measured;
  std::shared_ptr<const PreparedStep> step;
  std::shared_ptr<const StepKernels> kernels;
  SimulatedStep simulated;  ///< by the profile last asked for

  /// |simulated / measured - 1|.
  double error() const;
};
using MeasuredSteps = std::vector<MeasuredStep>;

/// The cases of these scenarios that train and say what a step took. Throws as PreparedStep.
MeasuredSteps measured_steps(const std::vector<Scenario>& scenarios);

/// Fills in `simulated` of all, on as many threads as there are processors. `slowed`: that, too, by a second
/// simulation.
void simulate(MeasuredSteps& steps, const ComputeProfile& profile, bool slowed = false);

/// Of |error|: median and 90th percentile by nearest rank.
struct StepErrors {
  double median = 0;
  double p90 = 0;
  std::size_t steps = 0;
};
StepErrors errors_of(const MeasuredSteps& steps);

}  // namespace athanor
