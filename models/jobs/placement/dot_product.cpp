#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/scored_placement.hpp"

namespace athanor {

namespace {

/// What is free on a node times what a task takes, cores and GPUs as shares of the largest node's: the less the better.
class DotProductPolicy final : public ScoredPlacement {
 public:
  DotProductPolicy(const NodeList& nodes, const ScoredSettings& settings, std::uint64_t seed)
      : ScoredPlacement(nodes, settings, seed), most_(nodes) {}

 private:
  void score(const Demand& demand, const Inventory& inventory, std::span<ScoredNode> nodes) override {
    const double cpu_taken = demand.cpu_milli / most_.cpu_milli;
    const double gpu_taken = gpu_milli_of(demand) / most_.gpu_milli;
    for (ScoredNode& each : nodes) {
      const std::uint32_t cpu = inventory.free_cpu_milli(each.node);
      const double cpu_free = cpu == Node::kUnlimited ? 0 : cpu / most_.cpu_milli;
      const double gpu_free = free_gpu_milli(each.node, inventory) / most_.gpu_milli;
      each.score = score_of(1 - (cpu_free * cpu_taken + gpu_free * gpu_taken) / 2);
    }
  }

  MostOnANode most_;
};

}  // namespace

struct DotProduct final : PlacementKind {
  static constexpr std::string_view kName = "dot_product";
  static constexpr std::string_view kMeaning =
      "each task on the node with the least product of what is free and what it takes (FGD's study)";
  ScoredSettings settings;

  void visit(Fields& fields) override { athanor::visit(fields, settings); }
  std::unique_ptr<PlacementPolicy> make(const NodeList& nodes, const JobList& /*jobs*/,
                                        std::uint64_t seed) const override {
    return std::make_unique<DotProductPolicy>(nodes, settings, seed);
  }
};

template PlacementEntry placement_entry_of<DotProduct>();

}  // namespace athanor
