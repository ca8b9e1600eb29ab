#pragma once

#include <cstdint>
#include <vector>

#include "models/execution/mapped_schedule.hpp"

namespace athanor {

class Executor;

/// When the lanes of one of several jobs begin.
struct JobStart {
  Time begin;                             ///< not earlier
  std::vector<std::uint32_t> after = {};  ///< nor before these jobs have ended, which have smaller numbers
};

/// Several jobs that one schedule holds side by side.
struct ConcurrentJobs {
  std::vector<JobStart> starts;          ///< by job; empty: all is one job, which begins at once
  std::vector<std::uint32_t> of_agents;  ///< by agent, the job that it belongs to
};

/// Tells the lanes of a whole schedule when to begin. Jobs that begin at one time and that no other waits for share a
/// start, so that their lanes may be one class. Requires a job for every agent.
void assign_starts(MappedSchedule& mapped, const ConcurrentJobs& jobs);

/// When the last lane of each job ended, on an executor that has finished its schedule, folded or not; that of a job
/// without lanes is zero.
std::vector<Time> ends(const MappedSchedule& mapped, const Executor& executor, const ConcurrentJobs& jobs);

}  // namespace athanor
