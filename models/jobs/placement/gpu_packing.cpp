#include <algorithm>

#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/scored_placement.hpp"

namespace athanor {

namespace {

/// GPUs in use first, then idle ones of nodes in use, then idle nodes, small ones before large ones.
class GpuPackingPolicy final : public ScoredPlacement {
 public:
  GpuPackingPolicy(const NodeList& nodes, const ScoredSettings& settings, std::uint64_t seed)
      : ScoredPlacement(nodes, settings, seed) {}

 private:
  static constexpr int kIdleNode = 33;
  static constexpr int kIdleGpus = 50;

  void score(const Demand& demand, const Inventory& inventory, std::span<ScoredNode> nodes) override {
    if (gpu_milli_of(demand) == 0) { return; }
    for (ScoredNode& each : nodes) { each.score = score_of_node(each.node, demand, inventory); }
  }

  int score_of_node(NodeId node, const Demand& demand, const Inventory& inventory) {
    const int gpus = inventory.nodes().nodes[node].gpus;
    const auto idle = static_cast<int>(inventory.free_gpus(node).count());
    if (idle == gpus) { return std::max(kIdleNode - gpus, gpus); }
    if (demand.gpu_milli == 0) { return std::max(kIdleGpus - int{demand.gpus}, kIdleNode); }
    const int left = inventory.free_milli(node, shared_gpu(node, demand, inventory));
    if (left == Inventory::kWhole) { return std::max(kIdleGpus - 1, kIdleNode); }
    return std::max(kMostScore - left / 10, kIdleGpus);
  }
};

}  // namespace

struct GpuPacking final : PlacementKind {
  static constexpr std::string_view kName = "gpu_packing";
  static constexpr std::string_view kMeaning =
      "each task on GPUs in use, else on idle ones of nodes in use, else on idle nodes (FGD's study, after MLaaS)";
  ScoredSettings settings;

  void visit(Fields& fields) override { athanor::visit(fields, settings); }
  std::unique_ptr<PlacementPolicy> make(const NodeList& nodes, const JobList& /*jobs*/,
                                        std::uint64_t seed) const override {
    return std::make_unique<GpuPackingPolicy>(nodes, settings, seed);
  }
};

template PlacementEntry placement_entry_of<GpuPacking>();

}  // namespace athanor
