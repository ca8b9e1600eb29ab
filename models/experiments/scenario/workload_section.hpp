#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/scenario/workload_nodes.hpp"
#include "models/jobs/job.hpp"
#include "models/jobs/logs/fill.hpp"
#include "models/jobs/logs/log_format.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/placement/placement.hpp"
#include "models/jobs/schedulers/scheduler.hpp"
#include "models/jobs/simulate_jobs.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// Tasks of a job as a scenario writes them.
struct WorkloadTasks {
  std::uint32_t count = 1;
  std::uint16_t gpus = 1;                  ///< of each
  std::optional<std::uint16_t> gpu_milli;  ///< in place of whole ones
  std::uint32_t cpu_milli = 0;
  Bytes memory;
  std::uint16_t nics = 0;
};

/// A job as a scenario writes it.
struct WorkloadJob {
  std::string name;
  std::string user;
  std::string queue;
  WallTime submitted;
  WallTime duration;
  std::optional<WallTime> limit;
  std::optional<WallTime> expected;
  std::optional<std::uint32_t> gpus;  ///< wherever they are, or ...
  std::vector<WorkloadTasks> tasks;   ///< ... these
  std::vector<std::string> gpu_types;
  std::int32_t priority = 0;
  std::uint32_t count = 1;  ///< such jobs
  SourceLocation place;
};

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
  std::vector<WorkloadJob> written;
  std::optional<WorkloadLog> log;
  std::optional<WorkloadNodes> details;
  std::string scheduler_name;
  std::shared_ptr<SchedulerKind> scheduler;
  std::string placement_name;
  std::shared_ptr<PlacementKind> placement;
  JobsRules rules;
  std::optional<FailureRules> failures;
  SourceLocation place;

  std::shared_ptr<const JobList> jobs;    ///< once it has been resolved
  std::shared_ptr<const NodeList> nodes;  ///< the same
  std::vector<std::string> notes;         ///< what was left out, and what was assumed
};

void visit(Fields& fields, WorkloadConfig& workload);

class ExperimentReader;
std::unique_ptr<ExperimentReader> workload_reader();

}  // namespace athanor
