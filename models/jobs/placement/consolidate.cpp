#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/node_search.hpp"

namespace athanor {

namespace {

/// As the simulator of Helios does (Hu et al., "Characterization and Prediction of Deep Learning Workloads in
/// Large-Scale GPU Datacenters", SC 2021, its artifact): what fits on a node goes to the one with the fewest free GPUs;
/// what does not takes wholly free nodes, the lowest first, and the node with most free GPUs for the rest.
class ConsolidatePolicy final : public GroupPlacement {
  bool place_group(std::uint32_t group, const TaskGroup& tasks, Inventory& inventory, Allocation& allocation) override {
    const std::uint32_t per_node = most_on_a_node(tasks.each, inventory);
    if (per_node == 0) { return false; }
    if (tasks.tasks <= per_node) {
      return add(tightest(inventory, tasks.each, tasks.tasks), group, tasks.each, tasks.tasks, inventory, allocation);
    }
    std::uint32_t left = tasks.tasks;
    for (; left >= per_node; left -= per_node) {
      const auto free = emptiest(inventory, tasks.each, per_node);
      if (!add(free, group, tasks.each, per_node, inventory, allocation)) { return false; }
    }
    return left == 0 || add(emptiest(inventory, tasks.each, left), group, tasks.each, left, inventory, allocation);
  }

  static std::uint32_t most_on_a_node(const Demand& demand, const Inventory& inventory) {
    std::uint32_t most = 0;
    for (const std::uint16_t type : inventory.types(demand.gpu_types)) {
      const std::uint32_t gpus = inventory.most_gpus(type);
      const std::uint32_t milli = demand.gpu_milli > 0 ? demand.gpu_milli : demand.gpus * Inventory::kWhole;
      most = std::max(most, milli > 0 ? gpus * Inventory::kWhole / milli : 1);
    }
    return most;
  }

  static bool add(std::optional<NodeId> node, std::uint32_t group, const Demand& demand, std::uint32_t tasks,
                  Inventory& inventory, Allocation& allocation) {
    if (!node) { return false; }
    take(*node, group, demand, tasks, inventory, allocation);
    return true;
  }
};

}  // namespace

struct Consolidate final : PlacementKind {
  static constexpr std::string_view kName = "consolidate";
  static constexpr std::string_view kMeaning =
      "a job that fits on a node is never spread: it waits; a larger one waits for wholly free nodes";
  std::unique_ptr<PlacementPolicy> make(const NodeList& /*nodes*/, const JobList& /*jobs*/,
                                        std::uint64_t /*seed*/) const override {
    return std::make_unique<ConsolidatePolicy>();
  }
};

template PlacementEntry placement_entry_of<Consolidate>();

}  // namespace athanor
