#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/job.hpp"

namespace athanor {

/// Which jobs wait for others to be completed before schedulers hear of them.
class Dependencies {
 public:
  /// Borrows the jobs.
  explicit Dependencies(const JobList& jobs);

  /// What a job that has been submitted waits for: one of those names; none: for nothing. Where it waits, it is
  /// remembered.
  std::optional<NameId> hold(JobId job);
  /// A job has been completed. Jobs that wait for nothing any more, in the order in which they were held.
  std::vector<JobId> completed(JobId job);
  /// Of a job that is held still: what it waits for.
  std::optional<NameId> waits_for(JobId job) const;

 private:
  const JobList& jobs_;
  std::map<NameId, std::uint32_t> left_;          ///< of names that some job waits for: jobs that are not completed
  std::map<NameId, std::vector<JobId>> waiting_;  ///< held jobs, by one of the names that they wait for
};

/// Names of jobs that wait for each other in a circle, each for the next one and the last one for the first; empty:
/// none do.
std::vector<NameId> circle_of_dependencies(const JobList& jobs);

}  // namespace athanor
