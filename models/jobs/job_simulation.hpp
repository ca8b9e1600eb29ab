#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "models/jobs/cluster_state.hpp"
#include "models/jobs/dependencies.hpp"
#include "models/jobs/failures/failure_process.hpp"
#include "models/jobs/failures/node_watch.hpp"
#include "models/jobs/failures/slow_nodes.hpp"
#include "models/jobs/failures/standby_nodes.hpp"
#include "models/jobs/job_progress.hpp"
#include "models/jobs/simulate_jobs.hpp"
#include "sim/event_queue.hpp"

namespace athanor {

/// Jobs of a list on a cluster, from one instant at which something happens to the next. At one instant jobs end and
/// fail and nodes come back first, then parts fail, jobs are submitted, and at last the scheduler is asked.
class JobSimulation {
 public:
  /// As simulate_jobs().
  JobSimulation(const JobList& jobs, const NodeList& nodes, PlacementPolicy& placement, Scheduler& scheduler,
                SpeedModel& speeds, const JobsRules& rules);

  JobsRun run(const std::stop_token& stop);

 private:
  /// What events of the queue are.
  enum class Due : std::uint8_t {
    job,       ///< a job has come as far as its pace was known for, or its limit
    release,   ///< a job that has failed gives its nodes back
    failure,   ///< a job fails by itself
    repair,    ///< a node can be used again
    recovery,  ///< a part does not slow nodes down any more
    found,     ///< a check finds that a part does
  };
  static constexpr std::uint32_t kNoCause = UINT32_MAX;
  static constexpr std::uint32_t kMostInVain = 100'000;
  /// A job that has been started.
  struct Work {
    JobProgress progress;
    WallTime write;           ///< of a checkpoint where it is, if nobody else writes
    WallTime interval;        ///< between checkpoints
    WallTime began;           ///< it got its nodes
    WallTime since;           ///< it has been started on them
    WallTime ready;           ///< it works from then on
    WallTime failed;          ///< when it did, where has_failed; it has not been accounted for since
    std::uint64_t milli = 0;  ///< thousandths of GPUs that it has, or had last
    bool on_nodes = false;
    bool has_failed = false;
    bool from_memory = false;              ///< it begins again from a checkpoint in memory
    std::uint32_t cause = kNoCause;        ///< of its last interruption, or of the next one by itself
    std::uint32_t start_cause = kNoCause;  ///< why it has been started again
    std::uint32_t slow_cause = 0;          ///< the source that slows it down, where one does
    WallTime furthest;                     ///< work from which any of its starts has gone on
    std::uint32_t in_vain = 0;             ///< starts since that has grown
    WallTime slowed;                       ///< of its progress, as far as that is accounted for
    std::uint64_t due = 0;                 ///< the order of what is due next; events of other orders are void
    std::uint64_t failure = 0;             ///< the order of its failure by itself
  };
  /// A node that is cordoned, and repaired when nothing runs there any more.
  struct Draining {
    NodeId node;
    bool too_often = false;    ///< it has been found to fail
    std::uint32_t source = 0;  ///< that slowed it down when it was found, or false_alarms()
  };

  // What happens when (simulate_jobs.cpp).
  WallTime next_submission() const;
  /// Whether anything of a job may still happen.
  bool has_work() const;
  WallTime next_instant() const;
  /// When the scheduler is asked next if nothing happens before; max: never.
  WallTime next_schedule() const;
  /// The first multiple of the period that is not before `wanted`, and after the present.
  WallTime multiple_from(WallTime wanted, WallTime period) const;
  bool is_time_to_schedule() const;
  std::uint64_t push(WallTime when, Due due, std::uint32_t what);
  bool take_events();
  bool submit_jobs();
  void schedule();
  void note_usage();
  /// Jobs that have nodes, and come to no end. `cut`: the run ends before its time.
  void name_those_without_progress(bool cut);
  /// Why a job waits.
  std::string reason(JobId job) const;
  void finish();

  // What becomes of a job (job_simulation.cpp).
  void begin(JobId job);
  /// A job that has its nodes starts. `interval`: between its checkpoints.
  void start_anew(JobId job, WallTime interval, bool in_place = false);
  /// Its progress begins from what it has kept, after an overhead. What reading that again takes beside it.
  WallTime begin_work(JobId job, WallTime overhead);
  /// Counts starts that go on from no more work than those before, of which nobody waits for the end.
  void count_in_vain(JobId job);
  /// Brings a running job that has not failed up to the present, asks how fast it goes on, and schedules what is due
  /// next.
  void pace(JobId job);
  void pace_anew();
  WallTime ends_by(JobId job) const;
  WallTime work_done(JobId job) const;
  /// What was due of a running job. True: it has ended.
  bool go_on(JobId job);
  /// A scheduler took a job's nodes away.
  void lose_nodes(JobId job);
  void note_stint(JobId job);
  void leave(JobId job);
  /// It leaves its nodes for good.
  void end(JobId job, JobState state);
  /// Brings a job's progress up to the present, and notes what the time since its start was beside work.
  void close_account(JobId job);
  void account_gpus(JobId job);
  /// What it has done and not lost.
  void account_useful(JobId job);
  /// Notes by its cause what work up to the present took longer since a node was slow.
  void account_slowness(JobId job);
  /// Notes what the time was, since a job failed or lost tasks.
  void account_standstill(JobId job);
  double gpus_of(JobId job) const;

  // What is told of the job that is watched (job_notes.cpp).
  bool is_watched(JobId job) const { return rules_.watched == job; }
  void note_submission(JobId job);
  void note_waiting();
  void note_start(JobId job, WallTime overhead);
  void note_speed(JobId job, Speed speed);
  void note_failure(JobId job, std::uint32_t cause, WallTime lost);
  void note(JobId job, std::string_view what);

  // What fails (job_failures.cpp).
  bool fail_parts();
  /// Nodes of a part are lost.
  void lose(const FailureProcess::Failure& failure);
  std::vector<JobId> jobs_on(const std::vector<NodeId>& nodes) const;
  void expect_failure(JobId job);
  /// A job fails by itself.
  void fail(JobId job);
  /// A running job fails, and holds its nodes until somebody sees it.
  void interrupt(JobId job, std::uint32_t cause, const std::vector<NodeId>& lost);
  /// It has failed, and more of its nodes are lost before it has begun again.
  void lose_more(JobId job, const std::vector<NodeId>& lost);
  /// Whether its nodes that are left have all that it keeps in memory. Requires that it keeps something there.
  bool is_in_memory(JobId job) const;
  /// A job that has failed gives up what its nodes have in memory.
  void lose_memory(JobId job);
  /// What it has done falls back, and what that costs is noted by its cause. The work that is lost.
  WallTime fall_back(JobId job);
  /// It begins again, or not: it is given up. True as with begin_elsewhere(), and where it has ended.
  bool release(JobId job);
  /// A job begins again that does not work. It goes on where it is, with other nodes for those that are closed or, if
  /// it is elastic, without them; else it waits for nodes. True: it has fewer nodes, or none.
  bool begin_elsewhere(JobId job);
  /// It gives its nodes back, and waits as if it had been submitted anew.
  void requeue(JobId job);

  // What shrinks and grows again (job_resizes.cpp).
  /// An elastic job goes on with what it has on nodes that are open. False: it does not.
  bool shrink(JobId job);
  /// Jobs that have shrunk get what there is.
  void grow_back();
  /// Its GPUs are what it has now.
  void resize(JobId job);

  // What loses tasks, keeps the others, and waits for places of those (job_lost_tasks.cpp).
  bool lacks_tasks(JobId job) const { return lacking_.contains(job); }
  /// A job that does not work is left without its tasks on closed nodes. It begins again if it has all that it needs;
  /// else it waits. True as with begin_elsewhere().
  bool begin_with_rest(JobId job);
  /// A scheduler has found places for tasks of a job.
  void get_tasks(JobId job);

  // What is slow (job_slowdowns.cpp).
  void slow_down(const FailureProcess::Failure& slow);
  /// A part does not slow nodes down any more.
  void recover(std::uint32_t part);
  /// A check finds the nodes that a part slows down. True: nodes have changed.
  bool find(std::uint32_t part);
  /// Checks take nodes for slow ones that are not. True: nodes have changed.
  bool take_alarms();
  /// JobsRun::failures of these, where there are any.
  std::uint32_t false_alarms() const { return static_cast<std::uint32_t>(rules_.failures.sources.size()); }
  /// A node that a check has found gets no other jobs. `by_itself`: that counts as a failure of the node. False: it is
  /// out already.
  bool take_out(NodeId node, std::uint32_t cause, bool by_itself);
  /// A job leaves nodes that are closed.
  void move(JobId job, std::uint32_t cause);
  /// Jobs on these nodes go on at another speed.
  void pace_on(const std::vector<NodeId>& nodes);
  /// Cordoned nodes on which nothing runs any more are repaired.
  void repair_drained();

  const JobList& jobs_;
  Scheduler& scheduler_;
  SpeedModel& speeds_;
  const JobsRules& rules_;
  ClusterState state_;
  FailureProcess failures_;
  RandomStream detection_;
  StandbyNodes standby_;
  SlowNodes slow_;
  NodeWatch watch_;
  std::vector<Draining> draining_;
  std::map<JobId, std::uint32_t> shrunk_;  ///< jobs that have less than they want, and the cause
  std::set<JobId> lacking_;                ///< jobs that wait for places of tasks that they have lost
  Dependencies dependencies_;
  IdVector<JobId, Work> works_;
  std::map<JobId, std::vector<NodeId>> lost_;  ///< nodes of jobs with checkpoints in memory, since they failed last
  EventQueueOf<WallTime> events_;
  std::uint64_t orders_ = 0;
  JobId next_job_;
  bool pending_ = false;         ///< something has changed since the scheduler was called
  bool others_changed_ = false;  ///< a job has begun or left since paces were asked for
  std::uint64_t busy_milli_ = 0;
  Speed watched_speed_;
  std::optional<JobId> hopeless_;  ///< it begins again and again, and comes no further
  JobsRun run_;
};

}  // namespace athanor
