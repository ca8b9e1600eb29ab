#pragma once

#include <memory>
#include <vector>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/node_groups.hpp"
#include "algorithms/schedule/aggregation_tree.hpp"
#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/layout.hpp"

namespace athanor {

/// An aggregation tree, and which of its branches a collective needs: a broadcast climbs from its root alone, a reduce
/// descends to it alone, all others use everything both ways.
class AggregationBranches {
 public:
  using Child = AggregationTree::Child;
  /// What hangs on a node takes part in so much, at these of the node's ports: as many as before it take part.
  struct Part {
    bool up = false;
    bool down = false;
    std::uint32_t up_port = 0;
    std::uint32_t down_port = 0;
  };

  /// Requires the tree not to be null; `root` is one of its ranks.
  AggregationBranches(std::shared_ptr<const AggregationTree> tree, CollectiveKind kind, std::uint32_t root);

  const AggregationTree& tree() const { return *tree_; }
  const Part& part(const Child& child) const { return child.is_rank ? ranks_[child.number] : nodes_[child.number]; }
  /// Children of a node that send to it, and that it sends to.
  std::uint32_t ups(std::uint32_t node) const { return ups_[node]; }
  std::uint32_t downs(std::uint32_t node) const { return downs_[node]; }
  /// Which child has a port of its node.
  Child child_up(std::uint32_t node, std::uint32_t port) const;
  Child child_down(std::uint32_t node, std::uint32_t port) const;
  /// The node that a rank or node hangs on. Requires another node than the root of the tree.
  std::uint32_t above(const Child& child) const {
    return child.is_rank ? tree_->node_of(child.number) : tree_->parent(child.number);
  }

 private:
  void assign(const Child& child, std::uint32_t node, CollectiveKind kind, std::uint32_t root);

  std::shared_ptr<const AggregationTree> tree_;
  std::vector<Part> ranks_;
  std::vector<Part> nodes_;
  std::vector<std::uint32_t> ups_;
  std::vector<std::uint32_t> downs_;
  std::vector<bool> leads_to_root_;  ///< by node: the collective's root is below it
};

/// The engines of several trees as agents of a schedule: the nodes of tree 0, then those of tree 1, ...
class AggregationForest {
 public:
  struct Place {
    std::uint32_t tree = 0;
    std::uint32_t node = 0;
  };

  /// All trees have equally many ranks. `first`: the agent that is node 0 of tree 0.
  AggregationForest(const std::vector<Shared<AggregationTree>>& trees, CollectiveKind kind, std::uint32_t root,
                    AgentId first);

  std::uint32_t trees() const { return static_cast<std::uint32_t>(trees_.size()); }
  const AggregationBranches& operator[](std::uint32_t tree) const { return trees_[tree]; }
  AgentId agent(std::uint32_t tree, std::uint32_t node) const { return AgentId{first_[tree] + node}; }
  Place place(AgentId agent) const;
  /// The agent after the last one.
  std::uint32_t end() const { return first_.back(); }
  /// Most children of a node in any tree.
  std::uint32_t widest() const;

 private:
  std::vector<AggregationBranches> trees_;
  std::vector<std::uint32_t> first_;  ///< agent of node 0 by tree, and the end
};

/// The trees of a layout, or, where it has none, one of eight children a node.
std::vector<Shared<AggregationTree>> aggregation_trees(std::uint32_t ranks, const Layout& layout);

/// Before it sends chunk `loop`, a rank has the result of the chunk that is `outstanding` before it: so many results of
/// its lane `down`, of which each chunk has `each`. Nothing where there is no limit.
std::optional<Wait> outstanding_window(std::uint32_t outstanding, LaneId down, std::uint64_t loop,
                                       std::uint64_t each = 1);

/// What all algorithms on aggregation trees have in common; their schedule, cost and words are for the caller to add.
Algorithm on_aggregation_trees(CollectiveKind kind);

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
