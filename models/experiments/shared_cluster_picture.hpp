#pragma once

#include "models/experiments/shared_cluster_data.hpp"
#include "models/experiments/training_speeds.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/simulate_jobs.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

class Fabric;

/// What pictures of a run are drawn from (tools/plot/python/workload_run.py reads it): jobs in columns, their stays on
/// nodes, outages, GPU hours. Times are seconds; null: never. Requires a run whose stints were
/// kept.
JsonValue picture_json(const JobsRun& run, const JobList& jobs, const NodeList& nodes);

/// Adds what jobs wait for data, and what storages had to do.
void put_data_picture(const DataOutcome& data, const JobList& jobs, const DataRules& rules, JsonValue& json);

/// Adds what places and other trainings cost each job that trained, and how busy links between switches were.
void put_trainings_picture(const JobsRun& run, const JobList& jobs, const Fabric& fabric, TrainingSpeeds& trainings,
                           JsonValue& json);

}  // namespace athanor
