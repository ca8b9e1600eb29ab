#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/experiments/scenario/workload_section.hpp"
#include "models/experiments/shared_cluster_data.hpp"

namespace athanor {

/// Jobs that share a cluster for days: who waits for how long, and what the cluster does meanwhile.
class SharedClusterExperiment : public Experiment {
 public:
  /// Requires settings that were resolved.
  explicit SharedClusterExperiment(WorkloadConfig workload) : workload_(std::move(workload)) {}

  const WorkloadConfig& workload() const { return workload_; }
  /// Throws Interrupted.
  JobsRun simulate(const JobList& jobs, SpeedModel& speeds, const Platform& platform, const RunOptions& options) const;

  std::string_view subject() const override { return "workload"; }
  std::string variant() const override { return workload_.scheduler_name; }
  std::uint32_t ranks() const override { return workload_.nodes->gpus(); }
  std::span<const Bytes> sizes() const override;
  std::string label(Bytes size) const override;
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  const RepetitionSummary* repetitions() const override;
  std::vector<const Column*> columns(bool seeds) const override;
  /// As ExperimentKind::figures.
  static std::vector<const Column*> figures();
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string participants() const override;
  std::vector<std::string> warnings(const Platform& platform) const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  bool has_collectives() const override { return false; }
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  void check_asked_sizes() const override;

 private:
  /// Requires trainings. Borrows the jobs.
  std::unique_ptr<TrainingSpeeds> training_speeds(const JobList& jobs, const Platform& platform,
                                                  const RunOptions& options) const;
  /// "315 jobs of philly.csv (sia)".
  std::string jobs_text() const;

  WorkloadConfig workload_;
};

}  // namespace athanor
