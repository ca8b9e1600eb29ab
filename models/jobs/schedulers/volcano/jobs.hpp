#pragma once

#include <cstdint>
#include <map>

#include "models/jobs/cluster_state.hpp"
#include "models/jobs/schedulers/turn_list.hpp"
#include "models/jobs/schedulers/volcano/amounts.hpp"
#include "models/jobs/schedulers/volcano/queues.hpp"
#include "models/jobs/schedulers/volcano/settings.hpp"

namespace athanor {

/// What Volcano knows of a job (its PodGroup).
struct VolcanoJob {
  enum class Phase : std::uint8_t { none, pending, inqueue, running };
  Phase phase = Phase::none;
  std::size_t queue = 0;
  std::uint32_t needed = 0;     ///< tasks without which it does not run (minAvailable)
  std::uint32_t most = 0;       ///< tasks that it can use
  std::int64_t rank = 0;        ///< among all jobs, by the plugins that order them
  Amounts allocated;            ///< what it has
  Amounts wanted;               ///< what it would still take
  bool is_best_effort = false;  ///< it asks for nothing at all
  bool is_new = false;          ///< let in by this session: its tasks are there for the next one
  bool is_settled = false;      ///< pipelined by this session, or has just begun
};

/// All jobs of a run as Volcano knows them.
class VolcanoJobs {
 public:
  /// Borrows the list.
  VolcanoJobs(const VolcanoSettings& settings, const VolcanoQueues& queues, const JobList& jobs);

  VolcanoJob& operator[](JobId job) { return jobs_[job]; }
  const VolcanoJob& operator[](JobId job) const { return jobs_[job]; }
  Turn turn(JobId job) const { return {jobs_[job].rank, job}; }
  /// The tasks that a job does not run without.
  const Shape& needed_shape(JobId job) const;
  /// What those ask for.
  Amounts request(JobId job) const { return amounts_of(needed_shape(job)); }
  /// What all tasks ask for that it can use.
  Amounts most(JobId job) const;

 private:
  const JobList& list_;
  IdVector<JobId, VolcanoJob> jobs_;
  std::map<JobId, Shape> least_shapes_;  ///< of elastic jobs
};

}  // namespace athanor
