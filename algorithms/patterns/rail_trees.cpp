#include "algorithms/patterns/rail_trees.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

std::vector<Shared<AggregationTree>> trees_of(const NodeGroups& groups, const Layout& layout) {
  std::vector<Shared<AggregationTree>> trees = aggregation_trees(groups.nodes, layout);
  const std::uint32_t heads = NodeHeads(groups, layout).count();
  if (layout.as<EngineTreeShape>().trees.empty()) { trees.resize(heads, trees.front()); }
  require(trees.size() == heads, "{} aggregation trees for {} heads", trees.size(), heads);
  return trees;
}

}  // namespace

RailTrees::RailTrees(const NodeGroups& groups, const Layout& layout, AgentId first, const HeadLanes& lanes,
                     const std::vector<std::uint32_t>& owners)
    : groups_(groups),
      heads_(groups, layout),
      lanes_(lanes),
      forest_(trees_of(groups, layout), CollectiveKind::all_reduce, 0, first),
      channels_(heads_.count()) {
  const std::uint32_t served = forest_[0].tree().ranks();
  require(served == groups.nodes, "an aggregation tree of {} ranks for {} nodes", served, groups.nodes);
  for (std::uint32_t channel = 0; channel < owners.size(); ++channel) {
    index_.push_back(static_cast<std::uint32_t>(channels_[owners[channel]].size()));
    channels_[owners[channel]].push_back(channel);
  }
}

std::uint32_t RailTrees::depth() const {
  std::uint32_t deepest = 0;
  for (std::uint32_t tree = 0; tree < forest_.trees(); ++tree) {
    deepest = std::max(deepest, forest_[tree].tree().depth());
  }
  return deepest;
}

std::uint32_t RailTrees::lanes(AgentId agent, const VectorCut& cut) const {
  const auto [tree, node] = forest_.place(agent);
  const auto channels = index_.empty() ? cut.channels() : static_cast<std::uint32_t>(channels_[tree].size());
  return channels * (node == AggregationTree::kRoot ? 1 : 2);
}

RailTrees::Task RailTrees::task_of(AgentId agent, LaneId lane) const {
  const auto [tree, node] = forest_.place(agent);
  if (node == AggregationTree::kRoot) { return {channel_of(tree, lane.value), tree, node, true, true}; }
  const bool down = lane.value % 2 == 1;
  return {channel_of(tree, lane.value / 2), tree, node, !down, down};
}

LaneId RailTrees::lane_of(std::uint32_t node, std::uint32_t channel, bool down) const {
  const std::uint32_t index = index_.empty() ? channel : index_[channel];
  return LaneId{node == AggregationTree::kRoot ? index : 2 * index + (down ? 1 : 0)};
}

Lane RailTrees::lane(AgentId agent, LaneId lane, const VectorCut& cut, std::uint32_t first_program) const {
  const Task task = task_of(agent, lane);
  const std::uint32_t ports = children(task);
  const std::uint32_t role = 3 * ports + (task.up ? 1 : 0) + (task.down ? 1 : 0) * 2 - 1;
  return {1, cut.loops(task.channel), task.up ? ports : 1, task.down ? ports : 1,
          ProgramId{first_program + 2 * role + cut.shape(task.channel)}};
}

Endpoint RailTrees::at_child(const Task& task, std::uint32_t port, bool down) const {
  const Child child = forest_[task.tree].tree().children(task.node)[port];
  if (!child.is_rank) {
    return {forest_.agent(task.tree, child.number), lane_of(child.number, task.channel, down), PortId{0}};
  }
  const std::uint32_t inside = down ? lanes_.down : lanes_.up;
  return {AgentId{groups_.rank(child.number, heads_.place(task.tree))},
          LaneId{task.channel * lanes_.per_channel + inside}, PortId{0}};
}

Endpoint RailTrees::at_parent(std::uint32_t tree, const Child& child, std::uint32_t channel, bool down) const {
  const std::uint32_t node = forest_[tree].above(child);
  return {forest_.agent(tree, node), lane_of(node, channel, down), PortId{forest_[tree].part(child).up_port}};
}

Endpoint RailTrees::target(AgentId agent, LaneId lane, PortId out) const {
  const Task task = task_of(agent, lane);
  return task.down ? at_child(task, out.value, true) : at_parent(task.tree, {false, task.node}, task.channel, false);
}

Endpoint RailTrees::source(AgentId agent, LaneId lane, PortId in) const {
  const Task task = task_of(agent, lane);
  return task.up ? at_child(task, in.value, false) : at_parent(task.tree, {false, task.node}, task.channel, true);
}

Primitive RailTrees::at(AgentId agent, LaneId lane, std::uint64_t loop, const VectorCut& cut) const {
  const Task task = task_of(agent, lane);
  Primitive primitive;
  primitive.count = cut.piece(task.channel, loop, index_.empty() ? task.tree : 0).count;
  primitive.receives = {0, task.up ? children(task) : 1};
  primitive.sends = {0, task.down ? children(task) : 1};
  return primitive;
}

Endpoint RailTrees::entry(std::uint32_t rank, std::uint32_t channel) const {
  return at_parent(heads_.at(groups_.place(rank)), {true, groups_.node(rank)}, channel, false);
}

Endpoint RailTrees::exit(std::uint32_t rank, std::uint32_t channel) const {
  return at_parent(heads_.at(groups_.place(rank)), {true, groups_.node(rank)}, channel, true);
}

}  // namespace athanor
