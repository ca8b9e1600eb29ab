#include "algorithms/patterns/rail_trees.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

std::vector<std::shared_ptr<const AggregationTree>> trees_of(const NodeGroups& groups, const Layout& layout) {
  std::vector<std::shared_ptr<const AggregationTree>> trees = aggregation_trees(groups.nodes, layout);
  if (layout.trees.empty()) { trees.resize(groups.group, trees.front()); }
  require(trees.size() == groups.group, "{} aggregation trees for {} heads", trees.size(), groups.group);
  return trees;
}

}  // namespace

RailTrees::RailTrees(const NodeGroups& groups, const Layout& layout, AgentId first, const HeadLanes& heads)
    : groups_(groups), heads_(heads), forest_(trees_of(groups, layout), CollectiveKind::all_reduce, 0, first) {
  const std::uint32_t served = forest_[0].tree().ranks();
  require(served == groups.nodes, "an aggregation tree of {} ranks for {} nodes", served, groups.nodes);
}

std::uint32_t RailTrees::depth() const {
  std::uint32_t deepest = 0;
  for (std::uint32_t tree = 0; tree < forest_.trees(); ++tree) {
    deepest = std::max(deepest, forest_[tree].tree().depth());
  }
  return deepest;
}

std::uint32_t RailTrees::lanes(AgentId agent, const VectorCut& cut) const {
  return cut.channels() * (forest_.place(agent).node == AggregationTree::kRoot ? 1 : 2);
}

RailTrees::Task RailTrees::task_of(AgentId agent, LaneId lane) const {
  const auto [tree, node] = forest_.place(agent);
  if (node == AggregationTree::kRoot) { return {lane.value, tree, node, true, true}; }
  const bool down = lane.value % 2 == 1;
  return {lane.value / 2, tree, node, !down, down};
}

LaneId RailTrees::lane_of(std::uint32_t node, std::uint32_t channel, bool down) {
  return LaneId{node == AggregationTree::kRoot ? channel : 2 * channel + (down ? 1 : 0)};
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
  const std::uint32_t inside = down ? heads_.down : heads_.up;
  return {AgentId{groups_.rank(child.number, task.tree)}, LaneId{task.channel * heads_.per_channel + inside},
          PortId{0}};
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
  primitive.count = cut.piece(task.channel, loop, task.tree).count;
  primitive.receives = {0, task.up ? children(task) : 1};
  primitive.sends = {0, task.down ? children(task) : 1};
  return primitive;
}

Endpoint RailTrees::entry(std::uint32_t rank, std::uint32_t channel) const {
  return at_parent(groups_.place(rank), {true, groups_.node(rank)}, channel, false);
}

Endpoint RailTrees::exit(std::uint32_t rank, std::uint32_t channel) const {
  return at_parent(groups_.place(rank), {true, groups_.node(rank)}, channel, true);
}

}  // namespace athanor
