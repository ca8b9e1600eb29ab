#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "models/training/layer_work.hpp"
#include "models/training/measured_with.hpp"
#include "models/training/step/simulate_step.hpp"

namespace athanor {

/// The kernels of one micro-batch through all layers, those that are alike counted together.
class StepKernels {
 public:
  explicit StepKernels(const TrainingSetup& setup);

  /// One after the other on one GPU of each stage. Throws as time_of().
  double seconds(const ComputeProfile& profile) const;

 private:
  void add(const Kernels& kernels, double times);
  void add(const PhasedKernels& work, double times, double recomputed);
  void add_transformer(const TrainingSetup& setup);

  struct Counted {
    Kernel kernel;
    double times = 0;
  };
  GpuRates gpu_;
  std::vector<Counted> kernels_;
  double passes_ = 0;  ///< before which the host of a stage takes ComputeProfile::pass_overhead
};

/// How a step went with one compute profile, as far as its time with another one follows from that.
struct SimulatedStep {
  Time time;
  double exposed = 0;  ///< share of it in which a transfer was waited for
  double slowed = 0;   ///< share that it is longer by for each 1 of `interference`; 0: was not asked
};

/// What the step would take with `other`, having been simulated with `profile`: kernels, and the bubbles that they
/// leave, are as much longer as all of them together; what is exposed stays. Within 1 % where profiles are near.
double estimated_seconds(const StepKernels& kernels, const SimulatedStep& simulated, double gpus,
                         const ComputeProfile& profile, const ComputeProfile& other);

/// A training step that somebody measured, ready to be simulated with any compute profile.
struct MeasuredStep {
  std::string table;  ///< the scenario's file
  std::string name;   ///< of the case
  MeasuredWith with;  ///< of software that is not said: one of its own, called as the file
  std::string model;
  std::uint32_t gpus = 1;
  Time measured;
  std::shared_ptr<const PreparedStep> step;
  std::shared_ptr<const StepKernels> kernels;
  SimulatedStep simulated;  ///< by the profile last asked for

  /// The file's stem.
  std::string table_name() const;
  /// |simulated / measured - 1|.
  double error() const;
};
using MeasuredSteps = std::vector<MeasuredStep>;

/// A case that trains, whose step took so long. Throws as PreparedStep.
MeasuredStep measured_step(const std::string& table, const Case& training, Time measured);
/// The cases of these scenarios that train and say what a step took. Throws as PreparedStep.
MeasuredSteps measured_steps(const std::vector<Scenario>& scenarios);

/// Fills in `simulated` of all, each by its own profile, on as many threads as there are processors. `slowed`: that,
/// too, by a second simulation.
void simulate(MeasuredSteps& steps, const std::function<ComputeProfile(std::size_t step)>& profile_of, bool slowed);
/// All by one.
void simulate(MeasuredSteps& steps, const ComputeProfile& profile, bool slowed = false);

/// Throws ScenarioError where a step took about 1000 or a million times what steps take ("units"), or less than its
/// GPUs' peaks and memories allow ("faster-than-hardware").
void check_steps(MeasuredSteps steps);

/// Of |error|: median and 90th percentile by nearest rank.
struct StepErrors {
  double median = 0;
  double p90 = 0;
  std::size_t steps = 0;
};
StepErrors errors_of(const MeasuredSteps& steps);

}  // namespace athanor
