#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/training/architecture.hpp"
#include "models/training/compute_profile.hpp"
#include "models/training/framework.hpp"
#include "models/training/parallel_plan.hpp"
#include "models/training/pipeline/schedule.hpp"
#include "models/training/step/lanes.hpp"
#include "models/training/step/pieces.hpp"
#include "models/workload/run_workload.hpp"

namespace athanor {

/// GPUs of one kind, and how fast they compute.
struct GpuKind {
  GpuRates gpu;
  ComputeProfile compute;
  double slower = 1;  ///< how much longer than that it computes: a straggler
};

/// What is trained how, on which GPUs.
struct TrainingSetup {
  TrainedModel model;
  ParallelPlan plan;
  std::vector<std::uint32_t> layers;  ///< of each place of the model
  GpuRates gpu;                       ///< of unequal ones the fastest
  ComputeProfile compute;
  std::vector<GpuKind> others = {};              ///< kinds beside `gpu`; empty: all are alike
  std::vector<std::uint32_t> kind_of_rank = {};  ///< 0: `gpu`, k: others[k - 1]; empty: all are alike
  FrameworkUse framework = {};                   ///< whose defaults the plan has
  /// Of unequal GPUs the one whose memory the plan fills most, numbered likewise; none: that with the least.
  std::optional<std::uint32_t> fullest_kind = {};
};

/// What GPUs of one kind do in a step.
struct KindResult {
  std::uint32_t ranks = 0;
  double computing = 0;  ///< the share of the step in which they compute; the faster wait for the slower
};

/// Whose ranks do the same in a step, and the schedules of their pipelines.
struct StepShape {
  StepLanes lanes;
  std::map<std::uint32_t, PipelineSchedule> schedules;  ///< by micro-batches of a lane
};
/// Throws as pipeline_schedule().
StepShape shape_of(const TrainingSetup& setup);

/// How a step went.
struct StepResult {
  Time time;               ///< of the step
  double model_flops = 0;  ///< of all sequences, as publications count them: see model_flops()
  double samples_per_s = 0;
  double tokens_per_s = 0;
  double tflops_per_gpu = 0;      ///< model FLOPs per second and GPU, in 1e12
  double mfu = 0;                 ///< tflops_per_gpu over the mean peak of the GPUs in the plan's precision
  WorkloadShares shares;          ///< of the step, averaged over GPUs; waiting is the bubble
  std::vector<KindResult> kinds;  ///< as TrainingSetup numbers them
  double straggler_share = 0;     ///< of the step, of stragglers, by the compute profile
  WorkloadResult workload;        ///< without stragglers
};

/// How long a step takes whose GPUs would take so long if all were alike: see ComputeProfile::straggler_growth.
Time with_stragglers(Time alike, const ParallelPlan& plan, const ComputeProfile& compute);

/// A step whose collectives are priced, to be run with one compute profile after the other. These cost nothing of what
/// pricing does.
class PreparedStep {
 public:
  /// Throws as pipeline_schedule() and run_jobs().
  PreparedStep(TrainingSetup setup, CollectiveTimer& timer);
  PreparedStep(const PreparedStep&) = delete;
  PreparedStep& operator=(const PreparedStep&) = delete;

  /// Throws as peak_of() and run_workload().
  StepResult run(const ComputeProfile& compute, const WorkloadOptions& options) const;

  const TrainingSetup& setup() const { return setup_; }

 private:
  TrainingSetup setup_;
  StepShape shape_;
  std::vector<CallEstimate> own_estimates_;
  WorkloadEstimates estimates_;
};

/// What the kind of GPU that is numbered so does, were all of them, and all copies with so many micro-batches.
StepPieces pieces_on(const TrainingSetup& setup, std::uint32_t kind, std::uint32_t micro_batches,
                     const PipelineSchedule& schedule);

/// What all ranks do together in a step. Throws as PreparedStep.
Workload workload_of(const TrainingSetup& setup);

/// One step in the steady state. Throws as PreparedStep.
StepResult simulate_step(const TrainingSetup& setup, CollectiveTimer& timer, const WorkloadOptions& options);

/// What a GPU draws and costs.
struct GpuFigures {
  std::optional<double> w = {};       ///< while it computes
  std::optional<double> idle_w = {};  ///< at all other times
  std::optional<UsdRange> usd_per_hour = {};
};

/// What a machine draws and costs; nothing is assumed in place of what is absent.
struct CostFigures {
  /// By kind, as TrainingSetup numbers them; of a scenario's own figures one for all.
  std::vector<GpuFigures> gpus = {{}};
  std::optional<double> node_w = {};    ///< of a node, all but its GPUs, at all times
  std::optional<double> switch_w = {};  ///< of a switch of the network, at all times
  double pue = 1;                       ///< what the site draws per watt of these; at least 1
  std::optional<double> usd_per_kwh = {};
  std::optional<double> tokens = {};  ///< of a whole training
};

/// How much of the machine a step takes beside GPUs.
struct MachineCount {
  std::uint32_t nodes = 0;
  std::uint32_t switches = 0;
};

/// Of one step. Energies in joules, each absent where its figures are.
struct StepCosts {
  std::optional<double> gpu_j;
  std::optional<double> node_j;
  std::optional<double> switch_j;
  std::optional<double> energy_j;         ///< of all that are known, by the site's meter; absent without GPUs'
  std::optional<double> electricity_usd;  ///< of energy_j
  std::optional<UsdRange> rent_usd;       ///< of GPU-hours
};

/// GPUs draw `w` in the share of the step in which they compute, averaged over stages, and `idle_w` else. Requires
/// figures for every kind of the step.
StepCosts costs_of(const StepResult& step, const CostFigures& figures, const MachineCount& machine);

}  // namespace athanor
