#pragma once

#include <vector>

#include "algorithms/patterns/rail_trees.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// How the ranks of a node bring their shares to its heads, and results back.
enum class CollNetPath : std::uint8_t {
  direct,  ///< everyone sends each head its piece, and each head sends the result of its piece to everyone
  chain,   ///< each head's piece passes through all ranks of the node, which add; its result goes back the same way
};

/// All-reduce over nodes whose heads are joined by aggregation trees of the network, one per head. In the node a head
/// gets the sum of its piece; its tree adds up the nodes' sums and multicasts the result, which the head spreads. Every
/// head has a piece of each chunk; but where chains have orders (Layout::orders), each channel has one chain, which
/// ends at its first place, and all of its chunks belong to that head.
///
/// Per channel a rank has W lanes up and W down, for W chains or heads; those numbered j belong to the head j after it
/// (NodeHeads). What is up at a distance d from its head comes, in a chain, from the rank at d + 1, and goes to the one
/// at d - 1, and directly to the head at once; down the other way round. At distance 0 a rank speaks with the network.
class CollNetAllReduce final : public VectorSchedule {
 public:
  CollNetAllReduce(const Collective& collective, const Layout& layout, CollNetPath path);

  AgentCount agent_count() const override { return {ranks(), trees_.end()}; }
  std::uint32_t lanes(AgentId agent) const override;
  Lane lane(AgentId agent, LaneId lane) const override;
  std::uint32_t channel(AgentId agent, LaneId lane) const override;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;

  /// Of a layout with one loop.
  Cost cost() const;

 private:
  struct Task {
    std::uint32_t channel = 0;
    bool down = false;
    std::uint32_t head = 0;      ///< by number
    std::uint32_t distance = 0;  ///< from the head to the rank: places, backwards, or steps of its chain
  };

  std::uint32_t group() const { return groups_.group; }
  /// Pieces of a chunk: heads that a channel serves.
  std::uint32_t width() const { return chains_.empty() ? heads_.count() : 1; }
  std::uint32_t piece(const Task& task) const { return chains_.empty() ? task.head : 0; }
  Task task_of(AgentId agent, LaneId lane) const;
  LaneId lane_of(const Task& task, std::uint32_t place) const;
  std::uint32_t distance(std::uint32_t channel, std::uint32_t head, std::uint32_t place) const;
  /// The same task where it is at another distance: lane and port.
  Endpoint at_distance(AgentId agent, const Task& task, std::uint32_t distance, PortId port) const;
  /// Towards the head, or away from it: the lane's ports inside the node.
  std::uint32_t outer_ports(const Task& task) const;
  Endpoint outer_end(AgentId agent, const Task& task, std::uint32_t port) const;
  Endpoint inner_end(AgentId agent, const Task& task) const;
  /// What a rank at that place sends down, of all.
  Elements spread(std::uint32_t place) const;

  std::uint32_t outstanding_;  ///< of the layout's engines
  CollNetPath path_;
  NodeGroups groups_;
  NodeHeads heads_;
  std::vector<std::vector<std::uint32_t>> chains_;  ///< of chains with orders: places, the head first
  std::vector<std::vector<std::uint32_t>> steps_;   ///< of these, by place: its step
  RailTrees trees_;
};

/// What the two algorithms share; name and words are for the caller to add.
Algorithm collnet_algorithm(CollNetPath path);

}  // namespace athanor
