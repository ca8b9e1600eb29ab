#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/jobs/cluster_state.hpp"
#include "models/jobs/schedulers/volcano/settings.hpp"

namespace athanor {

/// Where tasks of a job would be: some on what is free, the others on what is being released ("pipelined").
struct TasksPlaced {
  Allocation on_free;
  Allocation in_future;  ///< all of them, in the inventory of what will be free; where there is one
  std::uint32_t tasks = 0;
  std::uint32_t pipelined = 0;
};

/// What is free in a session of Volcano, now and when all that is being released has been. Tasks are placed one after
/// the other, each on the node with the highest score, the lowest of those; or by the workload's placement, where no
/// plugin scores nodes.
class VolcanoSession {
 public:
  /// `nodes_have_limits`: of cores or memory, by which scores may differ.
  VolcanoSession(const VolcanoSettings& settings, const RevocableZones& zones, bool nodes_have_limits,
                 ClusterState& state)
      : settings_(settings), zones_(zones), nodes_have_limits_(nodes_have_limits), state_(state) {}

  /// What will be free; the same as what is free where nothing is being released.
  bool has_future() const { return future_.has_value(); }
  /// Makes one of its own of what will be free.
  Inventory& future();

  /// As many tasks as fit of a shape of a job that is preemptible or not. `whole`: all of them, or none are placed.
  TasksPlaced place(const Shape& shape, bool preemptible, bool whole);
  /// Gives back what place() has taken.
  void discard(const TasksPlaced& placed, const Shape& shape);
  /// Nodes that it may use in the order of their scores for a task of such a job, whatever is free there.
  std::vector<NodeId> by_score(const Demand& demand, bool preemptible);

 private:
  struct Candidate {
    double score = 0;
    bool fits = false;
  };

  /// Whether scores of such a task can differ from node to node.
  bool scores_differ(const Demand& demand) const;
  std::uint32_t room(NodeId node, const Demand& demand) const;
  bool has_room_for_all(const TaskGroup& group) const;
  bool admits(NodeId node) const { return zones_.admits(node, preemptible_, state_.now()); }
  double score(const Demand& demand, NodeId node) const;
  TasksPlaced place_by_policy(const Shape& shape, bool whole);
  void place_group(std::uint32_t group, const TaskGroup& tasks, TasksPlaced& placed);
  std::uint32_t fill_in_order(std::uint32_t group, const TaskGroup& tasks, TasksPlaced& placed);
  std::uint32_t fill_by_score(std::uint32_t group, const TaskGroup& tasks, bool of_future, TasksPlaced& placed);
  void take(NodeId node, std::uint32_t group, const Demand& demand, bool of_future, TasksPlaced& placed);

  const VolcanoSettings& settings_;
  const RevocableZones& zones_;
  bool nodes_have_limits_;
  ClusterState& state_;
  std::optional<Inventory> future_;
  bool preemptible_ = false;  ///< the job that is looked at
  std::vector<Candidate> candidates_;
};

}  // namespace athanor
