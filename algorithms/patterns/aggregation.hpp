#pragma once

#include <memory>
#include <vector>

#include "algorithms/aggregation_tree.hpp"
#include "algorithms/catalog.hpp"
#include "algorithms/layout.hpp"

namespace athanor {

/// All-reduce, reduce, broadcast or barrier by engines in a tree: agent ranks + k is its node k. What the ranks send is
/// added on its way up; the root sends the sum down, and each node to all below it. Only the branches that a collective
/// needs are used: a broadcast climbs from its root alone, a reduce descends to it alone.
///
/// Per channel a rank has a lane that sends and one that receives, and a node one lane up and one down, as far as they
/// are needed; the root of the tree has one lane for both. Ports of a node are its children, in order.
class Aggregation final : public Schedule {
 public:
  Aggregation(const Collective& collective, const Layout& layout);

  Roster roster() const override { return {ranks(), ranks() + tree_->nodes()}; }
  std::uint32_t lanes(AgentId agent) const override { return cut_.channels() * lanes_per_channel(agent); }
  Lane lane(AgentId agent, LaneId lane) const override;
  Memory memory(AgentId agent) const override;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;
  Elements message_limit() const override { return cut_.message_limit(); }
  Elements shift(Buffer) const override { return cut_.shift(); }
  std::uint32_t least_slots() const override { return 1; }

 private:
  enum class Duty : std::uint8_t { up, down, turn };  ///< turn: the root of the tree
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::up;
  };
  /// What one agent takes part in, and which port of its node's lanes is its own: how many before it take part.
  struct Part {
    bool up = false;
    bool down = false;
    std::uint32_t up_port = 0;
    std::uint32_t down_port = 0;
  };

  std::uint32_t ranks() const { return collective_.ranks; }
  bool is_rank(AgentId agent) const { return agent.value < ranks(); }
  bool is_top(AgentId agent) const { return agent.value == ranks() + AggregationTree::kRoot; }
  AgentId agent_of(const AggregationTree::Child& child) const {
    return AgentId{child.number + (child.is_rank ? 0 : ranks())};
  }
  AgentId above(AgentId agent) const {
    return AgentId{ranks() + (is_rank(agent) ? tree_->node_of(agent.value) : tree_->parent(agent.value - ranks()))};
  }
  std::uint32_t lanes_per_channel(AgentId agent) const;
  Task task_of(AgentId agent, LaneId lane) const;
  LaneId lane_of(AgentId agent, std::uint32_t channel, Duty duty) const;
  void assign_parts();
  void assign_part(const AggregationTree::Child& child, std::uint32_t node);
  AgentId child(AgentId node, PortId port, Duty duty) const;
  std::uint32_t in_ports(AgentId agent, Duty duty) const;
  std::uint32_t out_ports(AgentId agent, Duty duty) const;

  Collective collective_;
  std::shared_ptr<const AggregationTree> tree_;
  VectorCut cut_;
  std::vector<Part> parts_;           ///< by agent
  std::vector<std::uint32_t> ups_;    ///< by node: children that send to it
  std::vector<std::uint32_t> downs_;  ///< by node: children that it sends to
  std::vector<bool> leads_to_root_;   ///< by node: the collective's root is below it
  std::uint32_t most_ports_ = 0;
};

/// The tree of a layout, or, where it has none, one of eight children a node.
std::shared_ptr<const AggregationTree> aggregation_tree(std::uint32_t ranks, const Layout& layout);

/// What the algorithms of all these kinds share; the kind, its words and whether it pipelines are for the caller to
/// add.
Algorithm aggregation_algorithm(CollectiveKind kind);

}  // namespace athanor
