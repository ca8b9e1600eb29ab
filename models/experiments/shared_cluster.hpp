#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/experiments/scenario/workload_section.hpp"
#include "models/experiments/shared_cluster_data.hpp"

namespace athanor {

class DataSpeed;

/// What became of one job of a workload.
struct JobHistory {
  JobId job;
  std::string title;
  double gpus = 0;
  WallTime submitted;
  WallTime duration;  ///< at full speed
  JobOutcome outcome;
  JobStory story;
  std::optional<TrainingPace> pace;  ///< of one that trains
};

/// Jobs that share a cluster for days: who waits for how long, and what the cluster does meanwhile.
class SharedClusterExperiment : public Experiment {
 public:
  /// Requires settings that were resolved.
  explicit SharedClusterExperiment(WorkloadConfig workload) : workload_(std::move(workload)) {}

  const WorkloadConfig& workload() const { return workload_; }
  /// What is kept of a run beside what options ask for.
  struct Kept {
    std::optional<JobId> watched;
    bool stints = false;
  };
  /// Throws Interrupted.
  JobsRun simulate(const JobList& jobs, SpeedModel& speeds, const Platform& platform, const RunOptions& options,
                   const Kept& kept) const;

  /// Of one job, by its name or number, or by "job 17": what happens to it, and what its time goes to.
  /// Throws UsageError where there is no such job, or several; Interrupted.
  JobHistory history(std::string_view job, const Platform& platform, const RunOptions& options) const;

  /// What pictures of a run are drawn from: put_picture(). Throws Interrupted.
  JsonValue picture(const Platform& platform, const RunOptions& options) const;

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
  /// Those that somebody may have measured.
  static std::vector<const Column*> measurable();
  std::optional<Reference> reference() const override;
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string participants() const override;
  std::vector<std::string> warnings(const Platform& platform) const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  bool has_collectives() const override { return false; }
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  void check_asked_sizes() const override;

 private:
  /// Jobs, and how fast they work.
  struct Setup {
    std::shared_ptr<const JobList> jobs;
    std::unique_ptr<SpeedModel> speeds;
    TrainingSpeeds* trained = nullptr;  ///< among the speeds; null: no job trains
    const DataSpeed* data = nullptr;    ///< the same; null: none reads or writes
  };
  Setup set_up(const Platform& platform, const RunOptions& options) const;
  /// Requires trainings. Borrows the jobs.
  std::unique_ptr<TrainingSpeeds> training_speeds(const JobList& jobs, const Platform& platform,
                                                  const RunOptions& options) const;
  /// "315 jobs of philly.csv (sia)".
  std::string jobs_text() const;

  WorkloadConfig workload_;
};

}  // namespace athanor
