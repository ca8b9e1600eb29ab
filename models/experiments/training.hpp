#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/verification.hpp"
#include "models/experiments/workload.hpp"
#include "models/experiments/workload_columns.hpp"
#include "models/training/compute_pool.hpp"
#include "models/training/measured_with.hpp"
#include "models/training/memory.hpp"
#include "models/training/step/simulate_step.hpp"
#include "sim/error.hpp"

namespace athanor {

/// A training that can be simulated.
struct Training {
  TrainingSetup setup;
  MemoryUse memory;                   ///< of one GPU of the fullest stage; of one process, of its first GPU
  std::optional<MemoryUse> others{};  ///< of one process: of each other GPU
  bool fits = true;                   ///< into the memory of fullest_gpu(), by that estimate
  std::optional<Problem> plan_fault;  ///< why the plan cannot be run; only of scenarios read with an open plan
  std::optional<Time> measured;
  MeasuredWith measured_with;
  std::optional<Ratio> max_error;           ///< of |simulated / measured - 1|, that `verify` allows
  std::optional<Ratio> max_median_error;    ///< of its median over the measured steps of the scenario
  CostFigures costs;                        ///< of the scenario, else of the GPU's preset
  std::optional<StepError> expected_error;  ///< none: nothing is known of such predictions
  std::vector<std::string> notes;           ///< what a user may not have meant
};

inline constexpr Column kMeasuredStep{.key = "measured_time_s",
                                      .head = "measured",
                                      .unit = "(ms)",
                                      .width = 11,
                                      .format = Format::milliseconds,
                                      .shown = {.in_reports = Shown::Report::figure}};   ///< what was measured
inline constexpr Column kStepError{"error", "error", "(%)", 7, Format::signed_percent};  ///< simulated / measured - 1

/// A step of training.
class TrainingExperiment : public WorkloadExperiment {
 public:
  /// `ranks`: those of the plan, or, where that has a fault, all endpoints.
  TrainingExperiment(std::shared_ptr<const Training> training, std::uint32_t ranks, WorkloadNccl nccl)
      : WorkloadExperiment(std::move(nccl)), training_(std::move(training)), ranks_(ranks) {}

  const Training& training() const { return *training_; }

  Workload workload() const override { return workload_of(training_->setup); }
  WorkloadRun simulate(const Platform& platform, CollectiveTimer& timer, const WorkloadOptions& options) const override;
  void put_interval(const Platform& platform, const WorkloadRun& run, Record& record) const override;

  std::string_view subject() const override { return "training"; }
  std::string variant() const override { return training_->setup.model.name; }
  std::uint32_t ranks() const override { return ranks_; }
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  std::vector<const Column*> columns(bool seeds) const override;
  /// As ExperimentKind::figures.
  static std::vector<const Column*> figures();
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  std::optional<Reference> reference() const override;
  bool fits_memory() const override { return training_->fits; }
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  std::vector<std::string> keys_at_rest() const override;

 private:
  std::vector<std::string> notes(const StepResult& result, const CollectiveTimer& timer,
                                 const Platform& platform) const;

  std::shared_ptr<const Training> training_;
  std::uint32_t ranks_;
};

/// "Llama-3.1-405B on 16384 GPUs: tensor 8, pipeline 16 (1f1b), data 128; ...": what is trained how.
std::string describe(const TrainingSetup& setup);

}  // namespace athanor
