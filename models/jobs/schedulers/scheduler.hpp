#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/cluster_state.hpp"
#include "sim/check.hpp"
#include "sim/parse.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

class Fields;

/// Decides which jobs run. Each is a file of its own in this folder, which holds its keys, what it does and its words,
/// and a line in catalog.cpp.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// A job waits from now on: it has been submitted, or has lost its nodes.
  virtual void enqueue(JobId job, const ClusterState& state) = 0;
  /// A job that ran has ended.
  virtual void ended(JobId /*job*/, const ClusterState& /*state*/) {}
  /// A job that runs has lost these tasks, and keeps the others. False: it does not work without them, and waits until
  /// it is given as many (ClusterState::add()). Only where the kind places_lost_tasks().
  virtual bool lost_tasks(JobId job, const Allocation& /*lost*/, const ClusterState& /*state*/) {
    require(false, "the scheduler of job {} places whole jobs", job.value);
    return false;
  }
  /// A job that waits is withdrawn.
  virtual void withdraw(JobId job, const ClusterState& state) = 0;
  /// Something has changed since it was last called, or its period has passed: starts jobs, and takes nodes away.
  virtual void schedule(ClusterState& state) = 0;
  /// It is called at multiples of this alone; zero: at each change.
  virtual WallTime period() const { return {}; }
  /// When it wants to be called though nothing changes, later than the present once it has been
  /// called; max: not at all.
  virtual WallTime next_call(const ClusterState& /*state*/) const { return WallTime::max(); }
  /// How many jobs wait.
  virtual std::size_t waiting() const = 0;
  /// Why a job that waits, or lacks tasks, does not run, for people: "waits for 8 GPUs behind job 12".
  virtual std::string reason(JobId job, const ClusterState& state) const = 0;
};

/// A scheduler as a scenario describes it.
class SchedulerKind {
 public:
  virtual ~SchedulerKind() = default;
  /// Declares the keys of its object.
  virtual void visit(Fields& /*fields*/) {}
  /// What it cannot do with these jobs on these nodes, without a place; no message: nothing.
  virtual Mistake refusal(const JobList& /*jobs*/, const NodeList& /*nodes*/) const { return {}; }
  /// It says where jobs run, too, and asks no placement.
  virtual bool places_jobs() const { return false; }
  /// It gives elastic jobs other numbers of GPUs than their shapes have.
  virtual bool resizes_jobs() const { return false; }
  /// It treats jobs that are preemptible unlike others.
  virtual bool minds_preemptible() const { return false; }
  /// It finds places for tasks that a running job has lost.
  virtual bool places_lost_tasks() const { return false; }
  virtual std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& nodes) const = 0;
};

/// A scheduler in the catalog.
struct SchedulerEntry {
  std::string_view name;
  std::string_view meaning;                            ///< one line
  std::shared_ptr<SchedulerKind> (*make)() = nullptr;  ///< with the defaults of all its keys
};

/// In the order of lists.
const std::vector<SchedulerEntry>& schedulers();

}  // namespace athanor
