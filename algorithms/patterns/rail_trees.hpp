#pragma once

#include <vector>

#include "algorithms/patterns/aggregation_forest.hpp"
#include "algorithms/patterns/node_groups.hpp"
#include "algorithms/schedule/layout.hpp"

namespace athanor {

/// One aggregation tree per head, over the heads of that place on all nodes, as agents of a schedule: the nodes of tree
/// 0, then of tree 1, ... Tree h adds up piece h of each chunk and multicasts the sum; or, where every channel belongs
/// to one head, the chunks of the channels of head h. Per channel of its tree a node has a lane up and one down, the
/// root one lane for both; ports are its children, in order.
class RailTrees {
 public:
  /// Which lanes of a head, in each channel of so many lanes, speak with its tree: in-port 0 and out-port 0.
  struct HeadLanes {
    std::uint32_t per_channel = 0;
    std::uint32_t up = 0;
    std::uint32_t down = 0;
  };

  /// `first`: the agent that is node 0 of tree 0. `owners`: by channel, the head that it belongs to; none: every
  /// channel has a piece for each head. Uses the trees of the layout, or as many regular ones.
  RailTrees(const NodeGroups& groups, const Layout& layout, AgentId first, const HeadLanes& lanes,
            const std::vector<std::uint32_t>& owners = {});

  /// The agent after the last one.
  std::uint32_t end() const { return forest_.end(); }
  std::uint32_t depth() const;

  std::uint32_t lanes(AgentId agent, const VectorCut& cut) const;
  /// Programs are numbered from `first_program` on.
  Lane lane(AgentId agent, LaneId lane, const VectorCut& cut, std::uint32_t first_program) const;
  std::uint32_t channel(AgentId agent, LaneId lane) const { return task_of(agent, lane).channel; }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, const VectorCut& cut) const;

  /// Where a rank's tree takes what it sends in a channel, and sends what it gets.
  Endpoint entry(std::uint32_t rank, std::uint32_t channel) const;
  Endpoint exit(std::uint32_t rank, std::uint32_t channel) const;

 private:
  using Child = AggregationTree::Child;
  struct Task {
    std::uint32_t channel = 0;
    std::uint32_t tree = 0;
    std::uint32_t node = 0;
    bool up = true;
    bool down = false;  ///< both: the root
  };

  Task task_of(AgentId agent, LaneId lane) const;
  LaneId lane_of(std::uint32_t node, std::uint32_t channel, bool down) const;
  /// The channel of a tree that is number `index` of its own.
  std::uint32_t channel_of(std::uint32_t tree, std::uint32_t index) const {
    return index_.empty() ? index : channels_[tree][index];
  }
  Endpoint at_child(const Task& task, std::uint32_t port, bool down) const;
  Endpoint at_parent(std::uint32_t tree, const Child& child, std::uint32_t channel, bool down) const;
  std::uint32_t children(const Task& task) const {
    return static_cast<std::uint32_t>(forest_[task.tree].tree().children(task.node).size());
  }

  NodeGroups groups_;
  NodeHeads heads_;
  HeadLanes lanes_;
  AggregationForest forest_;
  std::vector<std::vector<std::uint32_t>> channels_;  ///< by tree, where channels have owners
  std::vector<std::uint32_t> index_;                  ///< of a channel among those of its tree
};

}  // namespace athanor
