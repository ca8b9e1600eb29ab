#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/summary.hpp"

namespace athanor {

/// Waits of jobs by their log, beside those that were simulated: of all whose log says when they started, and that
/// started in the simulation.
struct LoggedWaits {
  /// Of one queue: means, in seconds.
  struct Queue {
    std::size_t jobs = 0;
    double logged = 0;
    double simulated = 0;
  };
  std::size_t jobs = 0;
  TimeSummary logged;
  TimeSummary simulated;
  double median_difference = 0;  ///< seconds, of |simulated - logged|
  double within_a_minute = 0;    ///< share of jobs whose waits differ by no more
  double correlation = 0;        ///< of ranks: whether those wait for long that did
  std::map<std::string, Queue> queues;
};

/// `logged`: by job. None: no such job.
std::optional<LoggedWaits> logged_waits(const std::vector<std::optional<WallTime>>& logged, const JobsRun& run,
                                        const JobList& jobs);

}  // namespace athanor
