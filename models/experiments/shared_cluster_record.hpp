#pragma once

#include <string>

#include "models/experiments/record.hpp"
#include "models/experiments/scenario/workload_section.hpp"
#include "models/experiments/shared_cluster_data.hpp"
#include "models/experiments/training_speeds.hpp"
#include "models/jobs/simulate_jobs.hpp"

namespace athanor {

/// Puts what a run of a workload comes to.
void put_run(const JobsRun& run, const JobList& jobs, const WorkloadConfig& workload, Record& record);

/// Of a workload some of whose jobs train: what their places and the others cost them.
void put_trainings(const TrainingSpeeds& trainings, const JobList& jobs, Record& record);

/// "completed".
std::string_view text_of(JobState state);

/// The line above all Record::per_job.
std::string per_job_names();
/// A line for each job, each behind `head`. `data` and `trainings`: nullptr where none read any, and none train.
std::string job_lines(const JobList& jobs, const JobsRun& run, const DataOutcome* data, const TrainingSpeeds* trainings,
                      const std::string& head);

}  // namespace athanor
