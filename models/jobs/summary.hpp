#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/jobs/simulate_jobs.hpp"

namespace athanor {

/// How some times are distributed, in seconds; zeros where there are none. Percentiles are by nearest rank.
struct TimeSummary {
  double mean = 0;
  double median = 0;
  double p90 = 0;
  double p99 = 0;
  double most = 0;
};

/// How often jobs of one size fail.
struct FailuresBySize {
  double hours = 0;                 ///< that they ran, all together
  std::uint64_t interruptions = 0;  ///< by failures
  std::uint64_t from_memory = 0;    ///< after which they went on from checkpoints in memory

  /// Mean time to failure; none: none failed.
  std::optional<double> mttf_hours() const { return hours_between(interruptions); }
  /// The same of failures that memory has not made up for.
  std::optional<double> mttf_hours_of_storage() const { return hours_between(interruptions - from_memory); }

 private:
  std::optional<double> hours_between(std::uint64_t failures) const {
    return failures > 0 ? std::optional(hours / static_cast<double>(failures)) : std::nullopt;
  }
};

/// What a run comes to, for people.
struct JobsSummary {
  std::uint64_t submitted = 0;  ///< within the time that was simulated
  std::uint64_t started = 0;
  std::uint64_t completed = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t failed = 0;  ///< more often than they are tried again
  std::uint64_t queued = 0;  ///< jobs that did not start at once
  std::uint64_t restarts = 0;
  TimeSummary wait;         ///< from submission to the first start, of jobs that have started
  TimeSummary completion;   ///< from submission to the end, of jobs that have ended
  TimeSummary slowdown;     ///< completion / duration, of jobs completed; durations below 10 s count as 10 s, and it is
                            ///< at least 1 (bounded slowdown, Feitelson et al., JSSPP 1997)
  double makespan = 0;      ///< seconds, from time zero
  double gpu_hours = 0;     ///< that jobs had
  double utilisation = 0;   ///< share of all GPUs over the makespan
  double queue_length = 0;  ///< jobs waiting, on average over the makespan
  std::uint64_t interruptions = 0;           ///< by failures
  std::map<double, FailuresBySize> by_size;  ///< by GPUs, of jobs that have started
  double writing_gpu_hours = 0;              ///< checkpoints
  double goodput = 0;         ///< share of the time of GPUs that jobs had in which they did work that was not lost
  double effective_time = 0;  ///< the same share of the time from their first start to their end, by their GPUs
  double fairness = 0;        ///< Jain's index of the users' mean slowdowns; 1 for fewer than two users
};

/// Of a job that is completed, from its submission to its end, both in seconds: bounded slowdown
/// (JobsSummary::slowdown).
double bounded_slowdown(double completion, double duration);

/// Of values in seconds, which it sorts.
TimeSummary time_summary(std::vector<double>& values);

JobsSummary summary_of(const JobsRun& run, const JobList& jobs, const NodeList& nodes);

}  // namespace athanor
