#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/node_search.hpp"

namespace athanor {

namespace {

class MostFreePolicy final : public GroupPlacement {
  bool place_group(std::uint32_t group, const TaskGroup& tasks, Inventory& inventory, Allocation& allocation) override {
    return fill_nodes(group, tasks, inventory, allocation,
                      [&](std::uint32_t /*left*/) { return emptiest(inventory, tasks.each, 1); });
  }
};

}  // namespace

struct MostFree final : PlacementKind {
  static constexpr std::string_view kName = "most_free";
  static constexpr std::string_view kMeaning =
      "all that the node with the most free GPUs takes, then of the next one (Tiresias as Pollux has it, OSDI 2021)";
  std::unique_ptr<PlacementPolicy> make(const NodeList& /*nodes*/, const JobList& /*jobs*/,
                                        std::uint64_t /*seed*/) const override {
    return std::make_unique<MostFreePolicy>();
  }
};

template PlacementEntry placement_entry_of<MostFree>();

}  // namespace athanor
