#include <algorithm>

#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/scored_placement.hpp"

namespace athanor {

namespace {

/// What would be left of cores and GPUs, each as a share of the most that a node has: the less the better.
class ScoredBestFitPolicy final : public ScoredPlacement {
 public:
  ScoredBestFitPolicy(const NodeList& nodes, const ScoredSettings& settings, std::uint64_t seed)
      : ScoredPlacement(nodes, settings, seed), most_(nodes) {}

 private:
  void score(const Demand& demand, const Inventory& inventory, std::span<ScoredNode> nodes) override {
    int lowest = kMostScore;
    int highest = 0;
    for (ScoredNode& each : nodes) {
      const std::uint32_t cpu = inventory.free_cpu_milli(each.node);
      const double cpu_left = cpu == Node::kUnlimited ? 0 : (cpu - demand.cpu_milli) / most_.cpu_milli;
      const double gpu_left = (free_gpu_milli(each.node, inventory) - gpu_milli_of(demand)) / most_.gpu_milli;
      each.score = score_of(1 - (0.5 * cpu_left + 0.5 * gpu_left));
      lowest = std::min(lowest, each.score);
      highest = std::max(highest, each.score);
    }
    for (ScoredNode& each : nodes) {
      each.score = highest == lowest ? kMostScore : (each.score - lowest) * kMostScore / (highest - lowest);
    }
  }

  MostOnANode most_;
};

}  // namespace

struct ScoredBestFit final : PlacementKind {
  static constexpr std::string_view kName = "scored_best_fit";
  static constexpr std::string_view kMeaning =
      "each task on the node that has the least of cores and GPUs left, as shares of the largest node's (FGD's study)";
  ScoredSettings settings;

  void visit(Fields& fields) override { athanor::visit(fields, settings); }
  std::unique_ptr<PlacementPolicy> make(const NodeList& nodes, const JobList& /*jobs*/,
                                        std::uint64_t seed) const override {
    return std::make_unique<ScoredBestFitPolicy>(nodes, settings, seed);
  }
};

template PlacementEntry placement_entry_of<ScoredBestFit>();

}  // namespace athanor
