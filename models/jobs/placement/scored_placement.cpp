#include "models/jobs/placement/scored_placement.hpp"

#include <algorithm>

#include "sim/config/fields.hpp"
#include "sim/random.hpp"

namespace athanor {

void visit(Fields& fields, ScoredSettings& settings) {
  fields.optional("ties", settings.ties, "Which of nodes with equal scores: the first by name, or in a drawn order",
                  {{"name", Ties::name}, {"drawn", Ties::drawn}});
}

ScoredPlacement::ScoredPlacement(const NodeList& nodes, const ScoredSettings& settings, std::uint64_t seed) {
  for (const NodeId node : nodes.nodes.ids()) { in_order_.push_back(node); }
  if (settings.ties == Ties::drawn) {
    RandomStream(seed, "placement ties").shuffle(in_order_);
  } else if (!nodes.names.empty()) {
    std::stable_sort(in_order_.begin(), in_order_.end(),
                     [&](NodeId a, NodeId b) { return nodes.names[a.value] < nodes.names[b.value]; });
  }
}

bool ScoredPlacement::place_group(std::uint32_t group, const TaskGroup& tasks, Inventory& inventory,
                                  Allocation& allocation) {
  begins();
  for (std::uint32_t task = 0; task < tasks.tasks; ++task) {
    candidates_.clear();
    for (const NodeId node : in_order_) {
      if (inventory.room(node, tasks.each) > 0 && suits(node, tasks.each, inventory)) {
        candidates_.push_back({node, 0});
      }
    }
    if (candidates_.empty()) { return false; }
    score(tasks.each, inventory, candidates_);
    const auto best = std::max_element(candidates_.begin(), candidates_.end(),
                                       [](const ScoredNode& a, const ScoredNode& b) { return a.score < b.score; });
    NodeShare share{best->node, group, 1, {}};
    share.nics = nics(best->node, tasks.each, inventory);
    if (tasks.each.slice > 0) {
      share = inventory.share(best->node, group, tasks.each, 1);
    } else if (tasks.each.gpu_milli > 0) {
      share.gpus.add(shared_gpu(best->node, tasks.each, inventory));
    } else {
      share.gpus = whole_gpus(best->node, tasks.each, inventory);
    }
    inventory.take(share, tasks.each);
    placed(share, tasks.each);
    allocation.push_back(share);
  }
  return true;
}

std::uint32_t ScoredPlacement::shared_gpu(NodeId node, const Demand& demand, const Inventory& inventory) {
  return inventory.share(node, 0, demand, 1).gpus.least();
}

GpuSet ScoredPlacement::whole_gpus(NodeId node, const Demand& demand, const Inventory& inventory) {
  return inventory.free_gpus(node).lowest(demand.gpus);
}

NicSet ScoredPlacement::nics(NodeId node, const Demand& demand, const Inventory& inventory) {
  return inventory.free_nics(node).lowest(demand.nics);
}

std::uint32_t free_gpu_milli(NodeId node, const Inventory& inventory) {
  std::uint32_t sum = 0;
  for (std::uint32_t gpu = 0; gpu < inventory.nodes().nodes[node].gpus; ++gpu) {
    sum += inventory.free_milli(node, gpu);
  }
  return sum;
}

int score_of(double share) {
  return std::clamp(static_cast<int>(share * ScoredPlacement::kMostScore), 0, ScoredPlacement::kMostScore);
}

MostOnANode::MostOnANode(const NodeList& nodes) {
  for (const Node& node : nodes.nodes) {
    if (node.cpu_milli != Node::kUnlimited) { cpu_milli = std::max<double>(cpu_milli, node.cpu_milli); }
    gpu_milli = std::max<double>(gpu_milli, node.gpus * Inventory::kWhole);
  }
}

}  // namespace athanor
