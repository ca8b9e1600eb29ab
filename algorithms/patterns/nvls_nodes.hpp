#pragma once

#include <optional>

#include "algorithms/patterns/double_binary_tree.hpp"
#include "algorithms/patterns/rail_trees.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// What joins the heads of one place on all nodes.
enum class NvlsAcross : std::uint8_t {
  double_binary_tree,  ///< even channels take one tree, odd channels the other
  aggregation_tree,    ///< of the network's switches, one per head
};

/// All-reduce over nodes with NVLink SHARP. Agents: the ranks, an engine for the NVSwitches of each node, and the nodes
/// of the heads' aggregation trees, if any. A loop of a channel has one chunk per head of a node: the engine adds up
/// what the node's ranks send and gives the sum to the head; the heads of one place add up the nodes' sums; each sends
/// the result to its engine, which sends it to all ranks of the node.
///
/// Per channel a rank has H supply lanes and H gather lanes, for H heads of a node, lane j for the head j after it
/// (NodeHeads); and as a head a lane up to the other nodes and one down, or one lane for both at the root of a binary
/// tree. In- and out-port 0 of these belong to the engine, or to what is above; the children in a binary tree follow.
/// An engine has H lanes that reduce and H that multicast, whose port j belongs to the rank j places after the head.
class NvlsNodesAllReduce final : public VectorSchedule {
 public:
  NvlsNodesAllReduce(const Collective& collective, const Layout& layout, NvlsAcross across);

  AgentCount agent_count() const override { return {ranks(), trees_ ? trees_->end() : ranks() + groups_.nodes}; }
  std::uint32_t lanes(AgentId agent) const override;
  Lane lane(AgentId agent, LaneId lane) const override;
  std::uint32_t channel(AgentId agent, LaneId lane) const override;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;

  /// Of a layout with one loop.
  Cost cost() const;

 private:
  enum class Duty : std::uint8_t { supply, gather, reduce, multicast, up, down, turn };
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::supply;
    std::uint32_t head = 0;      ///< by number
    std::uint32_t children = 0;  ///< of a head in a binary tree
  };
  struct PortCounts {
    std::uint32_t in = 0;
    std::uint32_t out = 0;
  };

  std::uint32_t group() const { return groups_.group; }
  bool is_tree(AgentId agent) const { return agent.value >= ranks() + groups_.nodes; }
  std::uint32_t node(AgentId agent) const { return is_rank(agent) ? groups_.node(agent.value) : agent.value - ranks(); }
  AgentId engine(std::uint32_t node) const { return AgentId{ranks() + node}; }
  bool is_root(std::uint32_t node, std::uint32_t channel) const {
    return !trees_ && binary_.is_root(channel % 2, node);
  }
  std::uint32_t children(std::uint32_t node, std::uint32_t channel) const {
    return trees_ ? 0 : binary_.children(channel % 2, node);
  }
  /// Lanes of a rank in a channel.
  std::uint32_t lanes_in(std::uint32_t rank, std::uint32_t channel) const {
    if (!heads_.is_head(groups_.place(rank))) { return 2 * heads_.count(); }
    return 2 * heads_.count() + (is_root(groups_.node(rank), channel) ? 1 : 2);
  }
  /// Of a rank: before the channel.
  std::uint32_t first_lane(std::uint32_t rank, std::uint32_t channel) const {
    return channel / 2 * (lanes_in(rank, 0) + lanes_in(rank, 1)) + channel % 2 * lanes_in(rank, 0);
  }
  LaneId supply_lane(std::uint32_t rank, std::uint32_t channel, std::uint32_t head) const;
  LaneId gather_lane(std::uint32_t rank, std::uint32_t channel, std::uint32_t head) const;
  LaneId head_lane(std::uint32_t rank, std::uint32_t channel, bool down) const;
  LaneId engine_lane(std::uint32_t channel, bool multicasts, std::uint32_t head) const {
    return LaneId{(2 * channel + (multicasts ? 1 : 0)) * heads_.count() + head};
  }
  Task task_of(AgentId agent, LaneId lane) const;
  PortCounts ports(const Task& task) const;
  Endpoint head_parent(AgentId agent, const Task& task, bool down) const;
  Endpoint head_child(AgentId agent, const Task& task, std::uint32_t child, bool down) const;

  std::uint32_t outstanding_;  ///< of the layout's engines
  NodeGroups groups_;
  NodeHeads heads_;
  DoubleBinaryTree binary_;
  std::optional<RailTrees> trees_;
};

/// What the two algorithms share; name and words are for the caller to add.
Algorithm nvls_nodes_algorithm(NvlsAcross across);

}  // namespace athanor
