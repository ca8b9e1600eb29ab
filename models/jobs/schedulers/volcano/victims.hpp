#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/jobs/schedulers/volcano/jobs.hpp"
#include "models/jobs/schedulers/volcano/session.hpp"

namespace athanor {

/// Whose nodes a job may take, and how: those of jobs of its queue, or of other queues.
enum class Eviction : std::uint8_t { preempt, reclaim };

/// A task that runs.
struct RunningTask {
  JobId job;
  NodeShare share;  ///< of one task
  bool evicted = false;
};

/// Looks for tasks that have to leave so that a job's find places. Node by node in the order of their scores, the
/// plugins of the first tier that says anything choose who may be evicted, and those leave, the last in the order of
/// jobs first, until the task fits.
class VolcanoVictims {
 public:
  /// Begins with what runs at present. `total`: what the open nodes have.
  VolcanoVictims(const VolcanoSettings& settings, const RevocableZones& zones, const VolcanoJobs& jobs,
                 VolcanoQueues& queues, const Amounts& total, ClusterState& state);

  struct Room {
    bool for_all = false;
    Amounts placed;  ///< that the job's queue is taken to have
  };
  /// Finds places for tasks that a job needs, and marks who has to leave. Not for all: nothing changes unless it
  /// `keeps_part`.
  Room make_room(JobId job, const Shape& needed, Eviction eviction, VolcanoSession& session, bool keeps_part);
  /// Jobs that lose tasks, and which, since this was last asked, in the order of their ids.
  std::map<JobId, Allocation> take_evicted() { return std::exchange(evicted_, {}); }

 private:
  /// What has been done, to be undone.
  struct Step {
    NodeShare share;
    Demand demand;
    RunningTask* task;  ///< that was evicted; null: the job's own was placed
  };
  using Tasks = std::vector<RunningTask*>;

  bool place_task(JobId job, const Demand& demand, Eviction eviction, Inventory& future);
  bool make_room_on(NodeId node, JobId job, const Demand& demand, Eviction eviction, Inventory& future);
  bool fits(NodeId node, JobId job, const Demand& demand, Eviction eviction, const Inventory& future) const;
  Tasks candidates(NodeId node, JobId job, Eviction eviction);
  Tasks chosen(JobId job, const Demand& demand, const Tasks& candidates, Eviction eviction) const;
  std::optional<Tasks> opinion(const VolcanoPluginUse& use, JobId job, const Demand& demand, const Tasks& candidates,
                               Eviction eviction) const;
  Tasks beyond_gangs(const Tasks& candidates) const;
  Tasks allowed_by_drf(JobId job, const Demand& demand, const Tasks& candidates) const;
  Tasks allowed_by_tdm(JobId job, const Tasks& candidates) const;
  Tasks allowed_by_queues(const Tasks& candidates) const;
  void evict(RunningTask& task, Inventory& future);
  void undo(std::size_t steps, std::size_t queue, Inventory& future);
  const Demand& demand_of(const RunningTask& task) const;
  Amounts amounts(const RunningTask& task) const { return amounts_of(demand_of(task), 1); }
  /// What is left to a job that runs.
  std::uint32_t tasks_of(JobId job) const;
  Amounts allocated(JobId job) const;
  bool leaves_before(const RunningTask& a, const RunningTask& b) const;

  const VolcanoSettings& settings_;
  const RevocableZones& zones_;
  const VolcanoJobs& jobs_;
  VolcanoQueues& queues_;
  Amounts total_;
  ClusterState& state_;
  IdVector<NodeId, std::vector<RunningTask>> on_node_;
  std::map<JobId, Allocation> evicted_;
  std::vector<NodeId> order_;  ///< of nodes, for the task that is looked at
  std::vector<Step> steps_;    ///< for the job that is looked at
};

}  // namespace athanor
