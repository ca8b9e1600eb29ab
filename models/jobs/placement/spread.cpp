#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/node_search.hpp"

namespace athanor {

namespace {

class SpreadPolicy final : public GroupPlacement {
  bool place_group(std::uint32_t group, const TaskGroup& tasks, Inventory& inventory, Allocation& allocation) override {
    for (std::uint32_t task = 0; task < tasks.tasks; ++task) {
      const auto node = emptiest(inventory, tasks.each, 1);
      if (!node) { return false; }
      take(*node, group, tasks.each, 1, inventory, allocation);
    }
    return true;
  }
};

}  // namespace

struct SpreadPlacement final : PlacementKind {
  static constexpr std::string_view kName = "spread";
  static constexpr std::string_view kMeaning = "each task on the node with the most free GPUs";
  std::unique_ptr<PlacementPolicy> make(const NodeList& /*nodes*/, const JobList& /*jobs*/,
                                        std::uint64_t /*seed*/) const override {
    return std::make_unique<SpreadPolicy>();
  }
};

template PlacementEntry placement_entry_of<SpreadPlacement>();

}  // namespace athanor
