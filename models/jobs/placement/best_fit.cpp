#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/node_search.hpp"

namespace athanor {

namespace {

class BestFitPolicy final : public GroupPlacement {
  bool place_group(std::uint32_t group, const TaskGroup& tasks, Inventory& inventory, Allocation& allocation) override {
    return fill_nodes(group, tasks, inventory, allocation, [&](std::uint32_t left) {
      const auto whole = tightest(inventory, tasks.each, left);
      return whole ? whole : emptiest(inventory, tasks.each, 1);
    });
  }
};

}  // namespace

struct BestFit final : PlacementKind {
  static constexpr std::string_view kName = "best_fit";
  static constexpr std::string_view kMeaning =
      "few nodes: the one with the fewest free GPUs that takes all tasks, else the emptiest ones and the tightest last";
  std::unique_ptr<PlacementPolicy> make(const NodeList& /*nodes*/, const JobList& /*jobs*/,
                                        std::uint64_t /*seed*/) const override {
    return std::make_unique<BestFitPolicy>();
  }
};

template PlacementEntry placement_entry_of<BestFit>();

}  // namespace athanor
