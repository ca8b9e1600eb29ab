#include <algorithm>
#include <bit>
#include <utility>

#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/scored_placement.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

enum class Partitions : std::uint8_t { restricted, best_effort };

/// Partitions of a node are groups of 2, 4, 8, ... neighbours: 0 and 1, 2 and 3; 0 to 3, 4 to 7; as NVSwitches part the
/// eight GPUs of an HGX board. Larger ones than this count as several.
constexpr std::uint32_t kLargest = 16;

/// The GPUs of a partition.
GpuSet group(std::uint32_t first, std::uint32_t size) { return GpuSet::first(first + size) - GpuSet::first(first); }

/// What partitions that are wholly free are worth: those of 2 GPUs 1 each, and those of twice as many a hundred times
/// as much, so that the largest are kept first (Koordinator).
int worth(GpuSet free, std::uint32_t gpus) {
  int sum = 0;
  int each = 1;
  for (std::uint32_t size = 2; size <= std::min(gpus, kLargest); size *= 2, each *= 100) {
    for (std::uint32_t first = 0; first + size <= gpus; first += size) {
      if ((group(first, size) - free).empty()) { sum += each; }
    }
  }
  return sum;
}

class GpuPartitionsPolicy final : public ScoredPlacement {
 public:
  GpuPartitionsPolicy(const NodeList& nodes, const ScoredSettings& settings, Partitions partitions, std::uint64_t seed)
      : ScoredPlacement(nodes, settings, seed), partitions_(partitions) {}

  bool minds_gpus() const override { return true; }

 private:
  bool suits(NodeId node, const Demand& demand, const Inventory& inventory) override {
    return partitions_ == Partitions::best_effort || demand.gpus == 0 || best_of(node, demand, inventory).has_value();
  }

  /// The least loss of partitions, then the fewest free GPUs.
  void score(const Demand& demand, const Inventory& inventory, std::span<ScoredNode> nodes) override {
    for (ScoredNode& each : nodes) {
      const GpuSet free = inventory.free_gpus(each.node);
      const std::uint32_t gpus = inventory.nodes().nodes[each.node].gpus;
      GpuSet taken = whole_gpus(each.node, demand, inventory);
      if (demand.gpu_milli > 0) { taken.add(shared_gpu(each.node, demand, inventory)); }
      const int loss = worth(free, gpus) - worth(free - taken, gpus);
      each.score = -loss * static_cast<int>(GpuSet::kMost + 1) - static_cast<int>(free.count());
    }
  }

  GpuSet whole_gpus(NodeId node, const Demand& demand, const Inventory& inventory) override {
    return best_of(node, demand, inventory).value_or(inventory.free_gpus(node).lowest(demand.gpus));
  }

  /// The free partition of so many GPUs that leaves the most worth, the lowest of those.
  static std::optional<GpuSet> best_of(NodeId node, const Demand& demand, const Inventory& inventory) {
    const GpuSet free = inventory.free_gpus(node);
    const std::uint32_t gpus = inventory.nodes().nodes[node].gpus;
    const std::uint32_t size = demand.gpus;
    std::optional<GpuSet> best;
    int most = -1;
    if (size == 0 || (!std::has_single_bit(size) && size != gpus)) { return best; }
    for (std::uint32_t first = 0; first + size <= gpus; first += size) {
      const GpuSet partition = group(first, size);
      if (!(partition - free).empty()) { continue; }
      const int left = worth(free - partition, gpus);
      if (left <= most) { continue; }
      most = left;
      best = partition;
    }
    return best;
  }

  Partitions partitions_;
};

}  // namespace

struct GpuPartitions final : PlacementKind {
  static constexpr std::string_view kName = "gpu_partitions";
  static constexpr std::string_view kMeaning =
      "each task on neighbours of a node that NVSwitches can part off, and large groups stay free (Koordinator)";
  ScoredSettings settings;
  Partitions partitions = Partitions::restricted;

  void visit(Fields& fields) override {
    athanor::visit(fields, settings);
    fields.optional("policy", partitions, "Where no such group is free a task waits, or gets any GPUs",
                    {{"restricted", Partitions::restricted}, {"best_effort", Partitions::best_effort}});
  }
  std::unique_ptr<PlacementPolicy> make(const NodeList& nodes, const JobList& /*jobs*/,
                                        std::uint64_t seed) const override {
    return std::make_unique<GpuPartitionsPolicy>(nodes, settings, partitions, seed);
  }
};

template PlacementEntry placement_entry_of<GpuPartitions>();

}  // namespace athanor
