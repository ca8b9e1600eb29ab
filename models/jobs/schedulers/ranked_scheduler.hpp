#pragma once

#include <string>
#include <vector>

#include "models/jobs/schedulers/scheduler.hpp"
#include "models/jobs/schedulers/waiting_list.hpp"

namespace athanor {

/// One order of all jobs, running or waiting. Their GPUs are counted in that order: those for whom enough are left run,
/// later ones may pass one that asks for too many, and who runs beyond that loses its nodes to them. A job that has
/// enough by number but not where it could be placed takes the nodes of those behind it, the last first, or else waits.
class RankedScheduler : public Scheduler {
 public:
  void enqueue(JobId job, const ClusterState& state) override;
  void withdraw(JobId job, const ClusterState& state) override;
  void schedule(ClusterState& state) override;
  std::size_t waiting() const override { return waiting_.size(); }
  std::string reason(JobId job, const ClusterState& state) const override;

 protected:
  /// Lower first; that of a waiting job is the same as long as it waits, but for move().
  virtual std::int64_t rank(JobId job, const ClusterState& state) const = 0;

  Turn turn(JobId job, const ClusterState& state) const { return {rank(job, state), job}; }
  /// A waiting job's turn has become another.
  void move(Turn from, Turn to, const ClusterState& state);

 private:
  /// Those that fit beside all that run, in their order up to one that does not. True: none waits any more.
  bool start_without_losers(ClusterState& state);
  /// Of the running jobs those after a turn, in their order.
  std::vector<Turn> running_behind(Turn turn, const ClusterState& state) const;
  /// Starts a job in place of some of those behind it, the last first. False: that would not make room for it.
  bool start_instead(Turn turn, ClusterState& state) const;

  WaitingList waiting_;
};

}  // namespace athanor
