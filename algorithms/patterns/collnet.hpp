#pragma once

#include "algorithms/catalog.hpp"
#include "algorithms/layout.hpp"
#include "algorithms/patterns/rail_trees.hpp"

namespace athanor {

/// How the ranks of a node bring their shares to its heads, and results back.
enum class CollNetWay : std::uint8_t {
  direct,  ///< everyone sends each head its piece, and each head sends the result of its piece to everyone
  chain,   ///< each head's piece passes through all ranks of the node, which add; its result goes back the same way
};

/// All-reduce over nodes whose heads are joined by aggregation trees of the network, one per head. Every rank of a node
/// is the head of one piece of each chunk. In the node the head gets the sum of its piece; its tree adds up the nodes'
/// sums and multicasts the result, which the head spreads.
///
/// Per channel a rank has G lanes up and G down, for G ranks of a node; those numbered j belong to the head j places
/// after it, so that those numbered 0 speak with the network. In a chain what is up at j comes from the rank before,
/// where it is j + 1, and goes to the rank after, where it is j - 1; down the other way round.
class CollNetAllReduce final : public Schedule {
 public:
  CollNetAllReduce(const Collective& collective, const Layout& layout, CollNetWay way);

  Roster roster() const override { return {collective_.ranks, trees_.end()}; }
  std::uint32_t lanes(AgentId agent) const override;
  Lane lane(AgentId agent, LaneId lane) const override;
  Memory memory(AgentId agent) const override;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;
  Elements message_limit() const override { return cut_.message_limit(); }
  Elements shift(Buffer) const override { return cut_.shift(); }
  std::uint32_t least_slots() const override { return 1; }

  /// Of a layout with one loop.
  Cost cost() const;

 private:
  struct Task {
    std::uint32_t channel = 0;
    bool down = false;
    std::uint32_t places = 0;  ///< the head is so many places after the rank
  };

  bool is_rank(AgentId agent) const { return agent.value < collective_.ranks; }
  std::uint32_t group() const { return groups_.group; }
  Task task_of(LaneId lane) const;
  LaneId lane_of(std::uint32_t channel, bool down, std::uint32_t places) const {
    return LaneId{channel * 2 * group() + (down ? group() : 0) + places};
  }
  std::uint32_t neighbour(AgentId agent, std::uint32_t places_after) const;
  /// Towards the head, or away from it: the lane's ports inside the node.
  std::uint32_t outer_ports(const Task& task) const;
  Endpoint outer_end(AgentId agent, const Task& task, std::uint32_t port) const;
  Endpoint inner_end(AgentId agent, const Task& task) const;

  Collective collective_;
  Layout layout_;
  CollNetWay way_;
  NodeGroups groups_;
  VectorCut cut_;
  RailTrees trees_;
};

/// What the two algorithms share; name and words are for the caller to add.
Algorithm collnet_algorithm(CollNetWay way);

}  // namespace athanor
