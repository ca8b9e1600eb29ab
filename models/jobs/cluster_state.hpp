#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "models/jobs/inventory.hpp"
#include "models/jobs/placement/placement.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// A job that has its nodes.
struct RunningJob {
  JobId job;
  Allocation where;
  WallTime since;                      ///< it got them
  WallTime expected;                   ///< when it ends, as far as schedulers know
  bool stalled = false;                ///< it has failed, and nobody has seen it yet
  std::vector<GpuTypesId> types = {};  ///< of its GPUs, by group; empty: as its shape says
};

/// Thousandths of GPUs that a job of that shape has there.
std::uint64_t gpu_milli_of(const Allocation& where, const Shape& shape);

/// Which jobs run where at present: what schedulers look at and change. What a change means for time is up to whoever
/// simulates, who is told of each by started() and stopped().
class ClusterState {
 public:
  /// Borrows all of them.
  ClusterState(const JobList& jobs, const NodeList& nodes, PlacementPolicy& placement);

  WallTime now() const { return now_; }
  void advance(WallTime now) { now_ = now; }
  const JobList& jobs() const { return jobs_; }
  const Job& job(JobId job) const { return jobs_.jobs[job]; }
  Inventory& inventory() { return inventory_; }
  const Inventory& inventory() const { return inventory_; }
  PlacementPolicy& placement() { return placement_; }

  /// In no order that means anything, but the same in every run.
  std::span<const RunningJob> running() const { return running_; }
  bool is_running(JobId job) const { return slots_[job] != kNone; }
  /// Requires is_running(job).
  const RunningJob& running(JobId job) const { return running_[slots_[job]]; }

  /// Running jobs in the order of their expected ends.
  const std::set<std::pair<WallTime, JobId>>& expected_ends() const { return expected_ends_; }

  /// How long a job is expected to run still, at full speed, whether it waits or runs; 0 where it takes longer than
  /// expected.
  WallTime remaining(JobId job) const;
  /// Whoever simulates says what of its work a job has done at present; nobody: nothing.
  void ask_for_work(std::function<WallTime(JobId)> work_done) { work_done_ = std::move(work_done); }

  /// How fast a job would be on so many nodes with so many GPUs altogether, as a multiple of its full speed, at present
  /// and undisturbed: what schedulers of elastic jobs weigh. Whoever simulates says it; nobody: as its GPUs.
  double speed(JobId job, std::uint32_t nodes, std::uint32_t gpus) const;
  void ask_for_speed(std::function<double(JobId, std::uint32_t, std::uint32_t)> speed) { speed_ = std::move(speed); }

  /// Places a job and starts it. False: it does not fit now. Requires that it does not run.
  bool start(JobId job);
  /// The same on GPUs of these types alone, by group, also where it gets other nodes for its own.
  bool start_on(JobId job, std::vector<GpuTypesId> types);
  /// Starts it on what has been taken for it already. An elastic job may have other numbers of tasks than its shape.
  void start(JobId job, Allocation where);
  /// Gives a running job other nodes for those of its own that are closed: for each the fullest that has room. False:
  /// there are not enough, and nothing has changed.
  bool replace_closed(JobId job);
  /// Leaves a running job without what it has on closed nodes, which may be all that it has. That.
  Allocation drop_closed(JobId job);
  /// Gives a running job what has been taken for it already beside what it has. Requires tasks of its shape.
  void add(JobId job, Allocation more);
  /// Leaves a running job, whose tasks have a GPU each, without what it has on closed nodes, if that is not all and at
  /// least so many GPUs are left. False: nothing has changed.
  bool drop_closed(JobId job, std::uint32_t least_gpus);
  /// Gives such a job tasks up to as many as its shape has, on the fullest nodes that have room. False: there is none.
  bool grow(JobId job);
  /// Takes a running job's nodes away: it has ended, or has to wait again.
  void stop(JobId job);

  /// A running job does nothing any more, or does again.
  void stall(JobId job, bool stalled);
  /// How often something has changed of who runs where.
  std::uint64_t changes() const { return changes_; }

  /// Jobs started and stopped since these were last asked, in order; a job may be in both.
  std::vector<JobId> take_started() { return std::exchange(started_, {}); }
  std::vector<JobId> take_stopped() { return std::exchange(stopped_, {}); }
  /// The same of those that were given more.
  std::vector<JobId> take_grown() { return std::exchange(grown_, {}); }

  /// How often something has happened that no scheduler could expect: a job ended before or after its time, a node was
  /// lost or came back. What was planned before is void.
  std::uint64_t surprises() const { return surprises_; }
  void surprise() { ++surprises_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// Of a task of a running job.
  Demand demand_of(const RunningJob& running, std::uint32_t group) const;

  const JobList& jobs_;
  PlacementPolicy& placement_;
  Inventory inventory_;
  WallTime now_;
  std::vector<RunningJob> running_;
  IdVector<JobId, std::uint32_t> slots_;
  std::set<std::pair<WallTime, JobId>> expected_ends_;
  std::vector<JobId> started_;
  std::vector<JobId> stopped_;
  std::vector<JobId> grown_;
  std::uint64_t surprises_ = 0;
  std::uint64_t changes_ = 0;
  std::function<WallTime(JobId)> work_done_;
  std::function<double(JobId, std::uint32_t, std::uint32_t)> speed_;
};

}  // namespace athanor
