#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/scenario/workload_data.hpp"
#include "models/jobs/arrivals.hpp"
#include "models/jobs/job.hpp"
#include "sim/config/fields.hpp"
#include "sim/units.hpp"

namespace athanor {

/// Tasks of a job as a scenario writes them.
struct WorkloadTasks {
  std::uint32_t count = 1;
  std::uint16_t gpus = 1;                  ///< of each
  std::optional<std::uint16_t> gpu_milli;  ///< in place of whole ones
  std::string mig;                         ///< likewise, a slice of one, as NVIDIA calls it
  std::uint8_t slice = 0;                  ///< that it is, once it has been resolved
  std::uint32_t cpu_milli = 0;
  Bytes memory;
  std::uint16_t nics = 0;
};

/// What jobs that are alike have in common.
struct WorkloadJobKind {
  std::string name;
  std::string user;
  std::string queue;
  std::optional<WallTime> limit;
  std::optional<std::uint32_t> gpus;  ///< wherever they are, or ...
  std::vector<WorkloadTasks> tasks;   ///< ... these
  std::vector<std::string> gpu_types;
  std::map<std::string, Ratio> speed_by_gpu;  ///< of those that are not as fast as it is meant
  std::int32_t priority = 0;
  bool preemptible = false;
  std::optional<WorkloadJobData> data;
  std::optional<std::uint32_t> retries;  ///< after failures; none: always
  std::optional<Ratio> parameters;       ///< of what it trains, by which its checkpoints count
  std::string training;                  ///< by its name; "": it computes nothing that is simulated
  std::optional<std::uint64_t> steps;    ///< of it; none: as many as fit into the duration
  ActivityId activity;                   ///< once it has been resolved
  SourceLocation place;
};

/// How many GPUs schedulers may give an elastic job.
struct WorkloadElastic {
  std::uint32_t from = 1;
  std::uint32_t to = 1;
};

/// A job as a scenario writes it, or several.
struct WorkloadJob : WorkloadJobKind {
  WallTime submitted;
  std::optional<WallTime> duration;  ///< or steps of its training, or by its data, put_durations(), or ...
  std::string application;           ///< ... of which there is a profile
  std::uint32_t batch = 0;           ///< of an application
  std::optional<WallTime> expected;
  std::optional<WorkloadElastic> elastic;
  std::vector<std::string> after;  ///< names of jobs that have to be completed
  std::uint32_t count = 1;         ///< such jobs
};
void visit(Fields& fields, WorkloadJob& job);
/// Their IoIds count from 1, as written. Requires durations.
JobList list_of(const std::vector<WorkloadJob>& written);

/// Jobs that are drawn.
struct WorkloadArrivals {
  struct Class : WorkloadJobKind {
    Ratio share{1, 1};
    RandomSpan duration;
    Ratio estimate{1, 1};
  };
  std::uint64_t count = 0;
  RandomSpan between;
  Ratio daily{0, 1};
  std::vector<Class> classes;
};
void visit(Fields& fields, WorkloadArrivals& arrivals);
JobList list_of(const WorkloadArrivals& arrivals, std::uint64_t seed);

}  // namespace athanor
