#include "algorithms/patterns/aggregation_forest.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

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

}  // namespace athanor
