#pragma once

#include <map>

#include "algorithms/patterns/aggregation_forest.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// Reduce-scatter or all-gather by engines in trees, block by block in the order in which the ranks hang on the tree,
/// so that the blocks of a subtree follow each other. Agents, channels and trees are those of `Aggregation`.
///
/// Reduce-scatter: every rank sends all blocks up; the sum of a block goes from the root down to its owner alone.
/// All-gather: a rank sends its block up, and the root multicasts it down to all. To its owner, too: a primitive sends
/// to a contiguous range of ports.
///
/// Per channel a rank and a node have a lane up and one down; the root of the tree has one lane for both. A lane has a
/// step for each block that passes through it. With EngineTreeShape::outstanding, a rank begins a loop when it has got
/// all that it gets of the loop that is so many before.
class AggregationBlocks final : public CutSchedule<BlockCut> {
 public:
  AggregationBlocks(const Collective& collective, const Layout& layout);

  AgentCount agent_count() const override { return {ranks(), forest_.end()}; }
  std::uint32_t lanes(AgentId agent) const override;
  Lane lane(AgentId agent, LaneId lane) const override;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;

 private:
  enum class Duty : std::uint8_t { up, down, turn };  ///< turn: the root of the tree
  struct Task {
    std::uint32_t channel = 0;
    std::uint32_t tree = 0;
    std::uint32_t node = 0;  ///< of an engine
    Duty duty = Duty::up;
  };
  /// The order of the blocks in one tree.
  struct Order {
    std::vector<std::uint32_t> rank_at;      ///< by place
    std::vector<std::uint32_t> first_place;  ///< by node: of the blocks below it
    std::vector<std::uint32_t> programs;     ///< by node; equal where children have equally many ranks below them
  };

  bool gathers() const { return collective().kind == CollectiveKind::all_gather; }
  Task task_of(AgentId agent, LaneId lane) const;
  Endpoint at_child(const Task& task, std::uint32_t port, Duty duty) const;
  Endpoint at_parent(const Task& task, AgentId agent, Duty duty) const;
  LaneId lane_of(std::uint32_t tree, const AggregationTree::Child& child, std::uint32_t channel, Duty duty) const;
  std::uint32_t steps(AgentId agent, const Task& task) const;
  /// The port of the child below which the block of a node's step is.
  std::uint32_t port_of(const Task& task, std::uint32_t step) const;
  Primitive of_rank(AgentId agent, const Task& task, LaneId lane, std::uint64_t loop, std::uint32_t step) const;
  Primitive of_node(const Task& task, std::uint64_t loop, std::uint32_t step) const;
  void order_blocks(std::uint32_t tree);

  std::uint32_t outstanding_;  ///< of the layout's engines
  AggregationForest forest_;
  std::vector<Order> orders_;                                   ///< by tree
  std::map<std::vector<std::uint32_t>, std::uint32_t> shapes_;  ///< ranks below the children of a node: its program
};

/// What the two algorithms share; the words are for the caller to add.
Algorithm aggregation_blocks_algorithm(CollectiveKind kind);

}  // namespace athanor
