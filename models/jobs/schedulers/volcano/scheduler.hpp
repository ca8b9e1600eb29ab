#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/jobs/schedulers/scheduler.hpp"
#include "models/jobs/schedulers/volcano/jobs.hpp"
#include "models/jobs/schedulers/volcano/queues.hpp"
#include "models/jobs/schedulers/volcano/session.hpp"
#include "models/jobs/schedulers/volcano/settings.hpp"
#include "models/jobs/schedulers/volcano/victims.hpp"
#include "models/jobs/schedulers/waiting_list.hpp"

namespace athanor {

/// Volcano: sessions at multiples of a period in which something has changed, each of which does its actions in their
/// order. A job that is evicted in part and needs all its tasks loses them all, as the policy RestartJob has it.
class VolcanoScheduler final : public Scheduler {
 public:
  /// Borrows the jobs.
  VolcanoScheduler(VolcanoSettings settings, const JobList& jobs, const NodeList& nodes);

  void enqueue(JobId job, const ClusterState& state) override;
  void ended(JobId job, const ClusterState& state) override;
  bool lost_tasks(JobId job, const Allocation& lost, const ClusterState& state) override;
  void withdraw(JobId job, const ClusterState& state) override;
  void schedule(ClusterState& state) override;
  WallTime period() const override { return settings_.period; }
  WallTime next_call(const ClusterState& state) const override;
  std::size_t waiting() const override { return waiting_; }
  std::string reason(JobId job, const ClusterState& state) const override;

 private:
  using Phase = VolcanoJob::Phase;
  /// What tasks that have been evicted still occupy.
  struct Holding {
    Allocation where;
    ShapeId shape;
    WallTime until;
  };

  // What jobs do (scheduler.cpp).
  void open(ClusterState& state);
  void close(ClusterState& state);
  void release_holdings(ClusterState& state);
  Amounts total(const ClusterState& state) const;
  void leave_nodes(JobId job);
  bool is_overdue(JobId job, const ClusterState& state) const;
  void let_in(JobId job);
  void take_out_deadline(JobId job);
  /// A job would take so much more than it has.
  void want(JobId job, const Amounts& what);
  void start(JobId job, Allocation where, ClusterState& state);

  // Jobs that lack tasks (incomplete_jobs.cpp).
  /// What such a job has to get before it works again, and the tasks of its shape that these are.
  struct Missing {
    Shape shape;
    std::vector<std::uint32_t> groups;
  };
  Missing missing_of(JobId job, const ClusterState& state) const;
  /// What a job's next tasks ask for that it does not work without.
  Amounts request_of(JobId job, const ClusterState& state) const;
  /// Those of a queue, in their order.
  std::vector<JobId> incomplete_in(std::size_t queue) const;
  /// Of two jobs that are not ready.
  bool is_before(JobId a, JobId b) const;
  void complete(JobId job, ClusterState& state);

  // What a session does (actions.cpp).
  /// Where a session is in a queue.
  struct Walk {
    std::size_t queue;
    WaitingList::Walk waiting;
    std::optional<Turn> next;       ///< that waits, where that is known
    std::vector<JobId> incomplete;  ///< the next is the last one
  };
  std::vector<Walk> walks() const;
  /// The next job of a queue is one that lacks tasks: it.
  std::optional<JobId> take_incomplete(Walk& walk) const;
  void enqueue_all(const ClusterState& state);
  bool votes_to_let_in(JobId job, const ClusterState& state) const;
  int vote_of_overcommit(const VolcanoPluginUse& use, const Amounts& request) const;
  void allocate_all(ClusterState& state);
  bool allocate(JobId job, ClusterState& state);
  Shape allowed_part(JobId job) const;
  void backfill_all(ClusterState& state);
  void evict_for_all(Eviction eviction, ClusterState& state);
  bool may_evict(JobId job, Eviction eviction, const ClusterState& state) const;
  void evict(JobId job, const Allocation& tasks, ClusterState& state);

  // What revocable nodes take back (revocations.cpp).
  std::optional<NodeShare> task_to_revoke(const RunningJob& running, const ClusterState& state) const;
  void revoke(ClusterState& state);
  WallTime next_zone_session(WallTime now) const;
  void count_zone_session(WallTime now);

  // What elastic jobs get beyond what they need (elastic_jobs.cpp).
  /// One that runs, or is to begin, with what it gets.
  struct Growing {
    JobId job;
    Allocation where;
    std::uint32_t tasks = 0;
    Amounts had;    ///< before
    Amounts added;  ///< since
    bool begins = false;
  };
  /// Those that may get more tasks do, one at a time, when all that wait have been tried.
  void grow_all(ClusterState& state);
  std::vector<Growing> growing_jobs(const ClusterState& state) const;
  /// False: it gets no more in this session.
  bool add_task(Growing& growing);
  void settle(Growing& growing, ClusterState& state);

  VolcanoSettings settings_;
  const JobList& list_;
  VolcanoQueues queues_;
  VolcanoJobs jobs_;
  RevocableZones zones_;
  Amounts all_nodes_;                 ///< what all nodes have
  bool nodes_have_limits_ = false;    ///< of cores or memory
  bool alike_differ_ = false;         ///< jobs that ask for the same may fare differently
  bool keeps_overdue_ = false;        ///< an overdue job keeps what it gets in a session
  std::vector<WaitingList> pending_;  ///< of each queue
  std::vector<WaitingList> inqueue_;  ///< the same
  std::size_t waiting_ = 0;
  std::set<JobId> elastic_;                                                 ///< that run
  std::set<JobId> incomplete_;                                              ///< that have nodes, and too few to work
  std::set<std::pair<WallTime, JobId>> deadlines_;                          ///< of sla, of jobs that wait
  std::vector<std::map<std::int32_t, std::uint32_t>> running_by_priority_;  ///< jobs of each queue
  Amounts held_;                                                            ///< by what has been evicted
  std::vector<Holding> holdings_;
  WallTime next_revocation_;            ///< not before
  std::size_t idle_zone_sessions_ = 0;  ///< in a row, that windows alone were the reason for
  WallTime next_zone_session_ = WallTime::max();

  // Of a session.
  Amounts total_;
  std::optional<VolcanoSession> session_;
  std::vector<JobId> new_jobs_;
  std::vector<JobId> settled_;
  std::vector<std::pair<JobId, TasksPlaced>> kept_;         ///< what jobs keep that do not begin
  std::vector<std::pair<std::size_t, Amounts>> pipelined_;  ///< what queues are taken to have
  bool may_grow_ = false;                                   ///< an elastic job has just what it needs
  std::map<JobId, Allocation> starting_;                    ///< elastic jobs that begin, with what they have so far
  WallTime next_session_ = WallTime::max();
};

}  // namespace athanor
