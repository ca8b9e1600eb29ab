#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/scored_placement.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

class RandomPolicy final : public ScoredPlacement {
 public:
  RandomPolicy(const NodeList& nodes, std::uint64_t seed)
      : ScoredPlacement(nodes, {}, seed), random_(seed, "placement") {}

 private:
  void score(const Demand& /*demand*/, const Inventory& /*inventory*/, std::span<ScoredNode> nodes) override {
    nodes[random_.below(nodes.size())].score = kMostScore;
  }

  std::uint32_t shared_gpu(NodeId node, const Demand& demand, const Inventory& inventory) override {
    GpuSet fitting;
    for (std::uint32_t gpu = 0; gpu < inventory.nodes().nodes[node].gpus; ++gpu) {
      if (inventory.free_milli(node, gpu) >= demand.gpu_milli) { fitting.add(gpu); }
    }
    for (std::uint64_t skipped = random_.below(fitting.count()); skipped > 0; --skipped) {
      fitting.remove(fitting.least());
    }
    return fitting.least();
  }

  RandomStream random_;
};

}  // namespace

struct RandomNode final : PlacementKind {
  static constexpr std::string_view kName = "random";
  static constexpr std::string_view kMeaning = "each task on any node and GPU where it fits, drawn by the seed";
  std::unique_ptr<PlacementPolicy> make(const NodeList& nodes, const JobList& /*jobs*/,
                                        std::uint64_t seed) const override {
    return std::make_unique<RandomPolicy>(nodes, seed);
  }
};

template PlacementEntry placement_entry_of<RandomNode>();

}  // namespace athanor
