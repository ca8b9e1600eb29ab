#pragma once

#include <vector>

#include "models/training/layer_work.hpp"
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

}  // namespace athanor
