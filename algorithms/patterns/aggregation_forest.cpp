#include "algorithms/patterns/aggregation_forest.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"

namespace athanor {

namespace {

std::optional<std::string> refuse_other_trees(const Collective& collective, const Layout& layout) {
  for (const auto& tree : layout.as<EngineTreeShape>().trees) {
    if (tree->ranks() == collective.ranks) { continue; }
    return fmt::format("an aggregation tree has {} ranks, and the collective {}", tree->ranks(), collective.ranks);
  }
  return {};
}

std::vector<Shared<AggregationTree>> trees_of(const NodeGroups& groups, const Layout& layout) {
  std::vector<Shared<AggregationTree>> trees = aggregation_trees(groups.nodes, layout);
  const std::uint32_t heads = NodeHeads(groups, layout).count();
  if (layout.as<EngineTreeShape>().trees.empty()) { trees.resize(heads, trees.front()); }
  require(trees.size() == heads, "{} aggregation trees for {} heads", trees.size(), heads);
  return trees;
}

}  // namespace

AggregationBranches::AggregationBranches(std::shared_ptr<const AggregationTree> tree, CollectiveKind kind,
                                         std::uint32_t root)
    : tree_(std::move(tree)),
      ranks_(tree_->ranks()),
      nodes_(tree_->nodes()),
      ups_(tree_->nodes()),
      downs_(tree_->nodes()),
      leads_to_root_(tree_->nodes()) {
  leads_to_root_[AggregationTree::kRoot] = true;
  for (std::uint32_t node = tree_->node_of(root); node != AggregationTree::kRoot; node = tree_->parent(node)) {
    leads_to_root_[node] = true;
  }
  for (std::uint32_t node = 0; node < tree_->nodes(); ++node) {
    for (const Child& child : tree_->children(node)) { assign(child, node, kind, root); }
  }
}

/// Everything is added up but in a broadcast, where only the way from the root is used; everyone gets the result but in
/// a reduce, where only the root does, and in a broadcast, where the root does not.
void AggregationBranches::assign(const Child& child, std::uint32_t node, CollectiveKind kind, std::uint32_t root) {
  const bool is_root = child.is_rank && child.number == root;
  const bool leads = is_root || (!child.is_rank && leads_to_root_[child.number]);
  const bool root_alone = is_root || (leads && tree_->ranks_below(child.number) == 1);
  Part& part = child.is_rank ? ranks_[child.number] : nodes_[child.number];
  part.up = kind != CollectiveKind::broadcast || leads;
  part.down = (kind != CollectiveKind::reduce || leads) && (kind != CollectiveKind::broadcast || !root_alone);
  part.up_port = ups_[node];
  part.down_port = downs_[node];
  ups_[node] += part.up ? 1 : 0;
  downs_[node] += part.down ? 1 : 0;
}

/// The first child at that port takes part: those that do not have the port of the next one that does.
AggregationTree::Child AggregationBranches::child_up(std::uint32_t node, std::uint32_t port) const {
  const auto children = tree_->children(node);
  auto found = std::partition_point(children.begin(), children.end(),
                                    [&](const Child& child) { return part(child).up_port < port; });
  while (found != children.end() && !part(*found).up) { ++found; }
  require(found != children.end() && part(*found).up_port == port, "port {} of node {} upwards", port, node);
  return *found;
}

AggregationTree::Child AggregationBranches::child_down(std::uint32_t node, std::uint32_t port) const {
  const auto children = tree_->children(node);
  auto found = std::partition_point(children.begin(), children.end(),
                                    [&](const Child& child) { return part(child).down_port < port; });
  while (found != children.end() && !part(*found).down) { ++found; }
  require(found != children.end() && part(*found).down_port == port, "port {} of node {} downwards", port, node);
  return *found;
}

AggregationForest::AggregationForest(const std::vector<Shared<AggregationTree>>& trees, CollectiveKind kind,
                                     std::uint32_t root, AgentId first)
    : first_{first.value} {
  require(!trees.empty(), "a forest without trees");
  for (const auto& tree : trees) {
    require(tree->ranks() == trees.front()->ranks(), "aggregation trees of {} and {} ranks", tree->ranks(),
            trees.front()->ranks());
    trees_.emplace_back(tree, kind, root);
    first_.push_back(first_.back() + tree->nodes());
  }
}

AggregationForest::Place AggregationForest::place(AgentId agent) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), agent.value);
  const auto tree = static_cast<std::uint32_t>(after - first_.begin()) - 1;
  return {tree, agent.value - first_[tree]};
}

std::uint32_t AggregationForest::widest() const {
  std::uint32_t widest = 0;
  for (const AggregationBranches& branches : trees_) {
    for (std::uint32_t node = 0; node < branches.tree().nodes(); ++node) {
      widest = std::max(widest, static_cast<std::uint32_t>(branches.tree().children(node).size()));
    }
  }
  return widest;
}

std::vector<Shared<AggregationTree>> aggregation_trees(std::uint32_t ranks, const Layout& layout) {
  constexpr std::uint32_t kChildren = 8;
  const auto& trees = layout.as<EngineTreeShape>().trees;
  if (!trees.empty()) { return trees; }
  return {std::make_shared<const AggregationTree>(AggregationTree::regular(ranks, kChildren))};
}

std::optional<Wait> outstanding_window(std::uint32_t outstanding, LaneId down, std::uint64_t loop, std::uint64_t each) {
  if (outstanding == 0) { return std::nullopt; }
  return Wait{down, loop < outstanding ? 0 : (loop - outstanding + 1) * each};
}

Algorithm on_aggregation_trees(CollectiveKind kind) {
  return {
      .name = "aggregation_tree",
      .kind = kind,
      .summary = "",
      .engine = Engine::switches,
      .formula = "",
      .source =
          "Graham et al., Scalable Hierarchical Aggregation Protocol (SHArP): A Hardware Architecture for Efficient "
          "Data Reduction, COMHPC 2016",
      .explanation = "",
      .ranks = "any number of ranks",
      .fabrics = "switches that aggregate",
      .refuses_many = refuse_other_trees,
  };
}

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
