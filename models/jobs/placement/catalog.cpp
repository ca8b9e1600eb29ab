#include "models/jobs/placement/placement.hpp"

namespace athanor {

/// Instantiated in the file of each kind (entry.hpp).
template <class Kind>
PlacementEntry placement_entry_of();

/// In the order of lists and documentation.
constexpr PlacementEntry (*kPlacements[])() = {
    placement_entry_of<struct BestFit>,            // best_fit
    placement_entry_of<struct FirstFit>,           // first_fit
    placement_entry_of<struct Consolidate>,        // consolidate
    placement_entry_of<struct SpreadPlacement>,    // spread
    placement_entry_of<struct MostFree>,           // most_free
    placement_entry_of<struct RandomNode>,         // random
    placement_entry_of<struct DotProduct>,         // dot_product
    placement_entry_of<struct GpuClustering>,      // gpu_clustering
    placement_entry_of<struct GpuPacking>,         // gpu_packing
    placement_entry_of<struct ScoredBestFit>,      // scored_best_fit
    placement_entry_of<struct Fgd>,                // fgd
    placement_entry_of<struct TopologyPlacement>,  // topology
    placement_entry_of<struct GpuPartitions>,      // gpu_partitions
    placement_entry_of<struct JointDevices>,       // joint_devices
};

const std::vector<PlacementEntry>& placements() {
  static const std::vector<PlacementEntry> all = [] {
    std::vector<PlacementEntry> found;
    for (const auto& entry : kPlacements) { found.push_back(entry()); }
    return found;
  }();
  return all;
}

}  // namespace athanor
