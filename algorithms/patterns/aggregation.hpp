#pragma once

#include "algorithms/patterns/aggregation_forest.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// All-reduce, reduce, broadcast or barrier by engines in trees: the nodes of tree 0, of tree 1, ... follow the ranks.
/// Channel c takes tree c % trees. What the ranks send is added on its way up; the root sends the sum down, and each
/// node to all below it. Only the branches that a collective needs are used.
///
/// Per channel a rank has a lane that sends and one that receives, and a node of the channel's tree one lane up and one
/// down, as far as they are needed; the root of the tree has one lane for both. Ports of a node are its children, in
/// order. With EngineTreeShape::outstanding, a rank that also receives holds its next chunk back until it has got the
/// result that is so many before.
class Aggregation final : public VectorSchedule {
 public:
  Aggregation(const Collective& collective, const Layout& layout);

  AgentCount agent_count() const override { return {ranks(), forest_.end()}; }
  std::uint32_t lanes(AgentId agent) const override { return channels(agent) * lanes_per_channel(agent); }
  std::uint32_t channel(AgentId agent, LaneId lane) const override { return task_of(agent, lane).channel; }
  Lane lane(AgentId agent, LaneId lane) const override;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;

 private:
  using Child = AggregationTree::Child;
  enum class Duty : std::uint8_t { up, down, turn };  ///< turn: the root of the tree
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::up;
  };

  bool is_top(AgentId agent) const { return !is_rank(agent) && forest_.place(agent).node == AggregationTree::kRoot; }
  std::uint32_t tree_of(std::uint32_t channel) const { return channel % forest_.trees(); }
  AgentId agent_of(std::uint32_t tree, const Child& child) const {
    return child.is_rank ? AgentId{child.number} : forest_.agent(tree, child.number);
  }
  Child child_of(AgentId agent) const {
    return is_rank(agent) ? Child{true, agent.value} : Child{false, forest_.place(agent).node};
  }
  /// What an agent takes part in, and its ports, in the tree of a channel.
  const AggregationBranches::Part& part(AgentId agent, std::uint32_t channel) const {
    return forest_[tree_of(channel)].part(child_of(agent));
  }
  AgentId above(AgentId agent, std::uint32_t channel) const {
    const std::uint32_t tree = tree_of(channel);
    return forest_.agent(tree, forest_[tree].above(child_of(agent)));
  }
  /// How many channels an agent serves, and which is the k-th of these.
  std::uint32_t channels(AgentId agent) const;
  std::uint32_t channel_at(AgentId agent, std::uint32_t k) const {
    return is_rank(agent) ? k : k * forest_.trees() + forest_.place(agent).tree;
  }
  std::uint32_t lanes_per_channel(AgentId agent) const;
  Task task_of(AgentId agent, LaneId lane) const;
  LaneId lane_of(AgentId agent, std::uint32_t channel, Duty duty) const;
  std::uint32_t in_ports(AgentId agent, Duty duty) const;
  std::uint32_t out_ports(AgentId agent, Duty duty) const;
  bool has_window(AgentId agent, const Task& task) const {
    return outstanding_ > 0 && is_rank(agent) && task.duty == Duty::up && part(agent, task.channel).down;
  }

  std::uint32_t outstanding_;  ///< of the layout's engines
  AggregationForest forest_;
  std::uint32_t most_ports_;
};

/// What the algorithms of all these kinds share; the kind, its words and whether it pipelines are for the caller to
/// add.
Algorithm aggregation_algorithm(CollectiveKind kind);

}  // namespace athanor
