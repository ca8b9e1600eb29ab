#pragma once

#include <memory>
#include <vector>

#include "algorithms/schedule/aggregation_tree.hpp"
#include "algorithms/schedule/collective.hpp"

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

}  // namespace athanor
