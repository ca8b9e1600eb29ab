#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/scenario/workload_data.hpp"
#include "models/experiments/scenario/workload_jobs.hpp"
#include "models/experiments/scenario/workload_nodes.hpp"
#include "models/experiments/scenario/workload_profiles.hpp"
#include "models/experiments/scenario/workload_trainings.hpp"
#include "models/jobs/data/data_rules.hpp"
#include "models/jobs/job.hpp"
#include "models/jobs/logs/fill.hpp"
#include "models/jobs/logs/log_format.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/placement/placement.hpp"
#include "models/jobs/schedulers/scheduler.hpp"
#include "models/jobs/simulate_jobs.hpp"
#include "models/jobs/speed.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// Jobs of somebody's log.
struct WorkloadLog {
  std::string file;
  std::string format_name;
  std::shared_ptr<LogFormat> format;
  LogSelection selection;
  std::optional<Fill> fill;
  SourceLocation place;
};

/// The "workload" of a scenario: jobs, and who decides when and where they run.
struct WorkloadConfig {
  std::vector<WorkloadJob> written;          ///< or ...
  std::optional<WorkloadLog> log;            ///< ... of a file, or ...
  std::optional<WorkloadArrivals> arrivals;  ///< ... drawn
  std::vector<WorkloadTraining> training_texts;
  ContentionRules contention;
  std::vector<Ratio> speed_by_distance;  ///< as of TierSpeed; empty: all run at full speed
  std::optional<WorkloadProfiles> profile_files;
  std::optional<WorkloadNodes> details;
  std::vector<WorkloadStorage> storages;
  std::vector<WorkloadCache> caches;
  std::vector<WorkloadDataSet> data_sets;
  std::string scheduler_name;
  std::shared_ptr<SchedulerKind> scheduler;
  std::string placement_name;
  std::shared_ptr<PlacementKind> placement;
  JobsRules rules;
  std::optional<FailureRules> failures;
  std::map<const Column*, std::optional<Ratio>> measured;  ///< figures of results, by their columns
  std::optional<Ratio> max_error;                          ///< of |simulated / measured - 1|
  SourceLocation place;

  /// The jobs for a seed: drawn by it, or the same for all.
  std::shared_ptr<const JobList> jobs_of(std::uint64_t seed) const;
  /// The name of the placement, or of a scheduler that needs none.
  const std::string& who_places() const;
  /// How fast such jobs work that have their data. Borrows them.
  std::unique_ptr<SpeedModel> speeds(const JobList& of) const;

  std::shared_ptr<const JobList> jobs;                ///< once it has been resolved; of arrivals those of seed 1
  std::shared_ptr<const NodeList> nodes;              ///< the same
  WorkloadTrainings resolved;                         ///< the same
  TrainingSpeeds::Trainings trainings;                ///< of these, once they can be run
  std::shared_ptr<const ProfileSet> profiles;         ///< the same
  std::shared_ptr<const DataRules> data;              ///< the same; nullptr: jobs read and write nothing
  std::vector<std::optional<WallTime>> logged_waits;  ///< by job, as the log has them; empty: it has none
  std::vector<std::string> notes;                     ///< what was left out, and what was assumed
};

void visit(Fields& fields, WorkloadConfig& workload);

class ExperimentReader;
std::unique_ptr<ExperimentReader> workload_reader();

}  // namespace athanor
