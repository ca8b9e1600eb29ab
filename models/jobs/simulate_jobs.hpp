#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "models/jobs/checkpoints.hpp"
#include "models/jobs/failures/failure_rules.hpp"
#include "models/jobs/job.hpp"
#include "models/jobs/job_story.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/placement/placement.hpp"
#include "models/jobs/schedulers/scheduler.hpp"
#include "models/jobs/speed.hpp"
#include "models/jobs/usage.hpp"

namespace athanor {

/// Where a job is when the simulation ends.
enum class JobState : std::uint8_t {
  waiting,  ///< or not even submitted
  running,
  completed,
  timed_out,  ///< ended by its limit
  failed,     ///< more often than it is tried again
};

/// What the time on nodes of a job was.
struct TimeOnNodes {
  WallTime useful;      ///< work that was not lost, as long as it takes where no node is slow
  WallTime slowed;      ///< what work took longer since nodes were slow
  WallTime writing;     ///< checkpoints
  WallTime lost;        ///< work since the last checkpoint that could be used
  WallTime detecting;   ///< failed, and nobody knew
  WallTime incomplete;  ///< without tasks that it had lost, too few left to work
  WallTime starting;    ///< again, without progress

  WallTime all() const { return useful + slowed + writing + lost + detecting + incomplete + starting; }
};

/// What became of a job.
struct JobOutcome {
  JobState state = JobState::waiting;
  std::uint32_t starts = 0;
  std::uint32_t interruptions = 0;     ///< by failures
  std::uint32_t from_memory = 0;       ///< after which it went on from a checkpoint in memory
  WallTime started = WallTime::max();  ///< for the first time; max: never
  WallTime ended = WallTime::max();    ///< max: it has not
  TimeOnNodes time;                    ///< of all its starts
  double gpu_seconds = 0;              ///< that it had
  Allocation where;                    ///< at its last start; kept where asked for

  WallTime ran() const { return time.all(); }
};

/// One stay of a job on nodes, from a start to its end, its next failure or the loss of its nodes.
struct JobStint {
  JobId job;
  WallTime since;
  WallTime until;
  Allocation where;
};

/// What one source of failures did.
struct FailureAccount {
  std::string name;
  std::uint64_t failures = 0;       ///< of its parts
  std::uint64_t interruptions = 0;  ///< of jobs
  std::uint64_t from_memory = 0;    ///< after which these went on from a checkpoint in memory
  double lost_gpu_seconds = 0;  ///< work that was lost, time until it was detected, without tasks and until jobs had
                                ///< begun again; what work took longer
};

/// A node that could not be used. Another failure may hit it meanwhile: then these overlap.
struct Outage {
  NodeId node;
  WallTime since;
  WallTime until;            ///< the repair, which may be beyond the end of the run
  std::uint32_t source = 0;  ///< of JobsRun::failures
};

/// A job that waits, or stands still, though nothing can happen any more, or begins again without end; and why.
struct StuckJob {
  JobId job;
  std::string reason;
};

struct JobsRun {
  IdVector<JobId, JobOutcome> outcomes;
  Usage usage;
  WallTime ended;               ///< the last job's end, or submission where that never starts, or tasks that it
                                ///< loses and never gets again; or the horizon
  std::vector<StuckJob> stuck;  ///< the first of them
  std::vector<FailureAccount> failures;  ///< of each source, and after these of false alarms where there are any
  std::uint64_t cordoned = 0;            ///< nodes taken out since they failed too often
  std::vector<JobStint> stints;          ///< in the order of their ends; kept where asked for
  std::vector<Outage> outages;           ///< the same, in the order of their beginnings
  JobStory story;                        ///< of the job that is watched
  std::uint64_t events = 0;
};

/// What becomes of the work of a job that loses its nodes to others.
enum class Preempted : std::uint8_t { goes_on, begins_anew };

/// Rules of a run.
struct JobsRules {
  WallTime horizon = WallTime::max();  ///< ends the simulation; max: the last job does
  WallTime start_overhead;             ///< without progress, at the first start
  WallTime restart_overhead;           ///< the same, at each other start
  Preempted preempted = Preempted::goes_on;
  CheckpointRules checkpoints;
  FailureRules failures;
  std::uint64_t seed = 1;         ///< of failures
  bool keep_stints = false;       ///< JobsRun::stints and outages, and allocations
  bool keep_allocations = false;  ///< JobOutcome::where
  std::optional<JobId> watched;   ///< of whom JobsRun::story tells
};

/// Simulates all jobs of the list. Throws SimulationError("no-tier"); Interrupted where `stop` was asked for.
JobsRun simulate_jobs(const JobList& jobs, const NodeList& nodes, PlacementPolicy& placement, Scheduler& scheduler,
                      SpeedModel& speeds, const JobsRules& rules, const std::stop_token& stop = {});

}  // namespace athanor
