#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/jobs/placement/entry.hpp"
#include "models/jobs/placement/scored_placement.hpp"

namespace athanor {

namespace {

/// How many tasks that want so many thousandths of GPUs a node has.
struct Requests {
  std::uint32_t gpu_milli = 0;
  std::uint32_t tasks = 0;
};

/// Tasks that want the same are put together: on nodes with no others, then beside others, then on idle nodes.
class GpuClusteringPolicy final : public ScoredPlacement {
 public:
  GpuClusteringPolicy(const NodeList& nodes, const ScoredSettings& settings, std::uint64_t seed)
      : ScoredPlacement(nodes, settings, seed), most_(nodes), requests_(nodes.count()) {}

  void started(const Shape& shape, const Allocation& where) override {
    begins();
    for (const NodeShare& share : where) { add(share.node, size_of(shape[share.group].each), share.tasks); }
  }

  void stopped(const Shape& shape, const Allocation& where) override {
    begins();
    for (const NodeShare& share : where) { remove(share.node, size_of(shape[share.group].each), share.tasks); }
  }

 private:
  static constexpr int kBand = 25;

  /// Tasks that share GPUs are all alike.
  static std::uint32_t size_of(const Demand& demand) { return demand.gpu_milli > 0 ? 1 : gpu_milli_of(demand); }

  void begins() override {
    for (const auto& [node, size] : pending_) { remove(node, size, 1); }
    pending_.clear();
  }

  void placed(const NodeShare& share, const Demand& demand) override {
    add(share.node, size_of(demand), 1);
    pending_.emplace_back(share.node, size_of(demand));
  }

  void score(const Demand& demand, const Inventory& inventory, std::span<ScoredNode> nodes) override {
    if (gpu_milli_of(demand) == 0) { return; }
    for (ScoredNode& each : nodes) {
      const double full = 1 - free_gpu_milli(each.node, inventory) / most_.gpu_milli;
      each.score = kBand * band(each.node, size_of(demand)) + static_cast<int>(kBand * full);
    }
  }

  int band(NodeId node, std::uint32_t size) const {
    const std::vector<Requests>& here = requests_[node];
    if (here.empty()) { return 1; }
    const bool same = std::any_of(here.begin(), here.end(), [&](const Requests& r) { return r.gpu_milli == size; });
    if (!same) { return 0; }
    return here.size() == 1 ? 3 : 2;
  }

  void add(NodeId node, std::uint32_t size, std::uint32_t tasks) {
    if (size == 0) { return; }
    for (Requests& requests : requests_[node]) {
      if (requests.gpu_milli != size) { continue; }
      requests.tasks += tasks;
      return;
    }
    requests_[node].push_back({size, tasks});
  }

  void remove(NodeId node, std::uint32_t size, std::uint32_t tasks) {
    std::vector<Requests>& here = requests_[node];
    for (Requests& requests : here) {
      if (requests.gpu_milli == size) { requests.tasks -= tasks; }
    }
    std::erase_if(here, [](const Requests& requests) { return requests.tasks == 0; });
  }

  MostOnANode most_;
  IdVector<NodeId, std::vector<Requests>> requests_;
  std::vector<std::pair<NodeId, std::uint32_t>> pending_;
};

}  // namespace

struct GpuClustering final : PlacementKind {
  static constexpr std::string_view kName = "gpu_clustering";
  static constexpr std::string_view kMeaning =
      "each task beside those that want as many GPUs, apart from those that want others (FGD's study, after Gandiva)";
  ScoredSettings settings;

  void visit(Fields& fields) override { athanor::visit(fields, settings); }
  std::unique_ptr<PlacementPolicy> make(const NodeList& nodes, const JobList& /*jobs*/,
                                        std::uint64_t seed) const override {
    return std::make_unique<GpuClusteringPolicy>(nodes, settings, seed);
  }
};

template PlacementEntry placement_entry_of<GpuClustering>();

}  // namespace athanor
