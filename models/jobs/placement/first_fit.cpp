#include "models/jobs/placement/entry.hpp"

namespace athanor {

namespace {

class FirstFitPolicy final : public GroupPlacement {
  bool place_group(std::uint32_t group, const TaskGroup& tasks, Inventory& inventory, Allocation& allocation) override {
    std::uint32_t left = tasks.tasks;
    for (const NodeId node : inventory.nodes().nodes.ids()) {
      const std::uint32_t here = std::min(left, inventory.room(node, tasks.each));
      if (here == 0) { continue; }
      take(node, group, tasks.each, here, inventory, allocation);
      left -= here;
      if (left == 0) { return true; }
    }
    return false;
  }
};

}  // namespace

struct FirstFit final : PlacementKind {
  static constexpr std::string_view kName = "first_fit";
  static constexpr std::string_view kMeaning = "what is free on the nodes in their order";
  std::unique_ptr<PlacementPolicy> make(const NodeList& /*nodes*/, const JobList& /*jobs*/,
                                        std::uint64_t /*seed*/) const override {
    return std::make_unique<FirstFitPolicy>();
  }
};

template PlacementEntry placement_entry_of<FirstFit>();

}  // namespace athanor
