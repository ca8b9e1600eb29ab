#include "topologies/kinds/catalog.hpp"

namespace athanor {

/// Instantiated in the file of each kind (fabric_kind.hpp).
template <class Kind>
Topology topology_of();

/// The kinds, in the order of lists and documentation.
constexpr Topology (*kKinds[])() = {
    topology_of<struct StarFabric>,           // star
    topology_of<struct FatTreeFabric>,        // fat_tree
    topology_of<struct RailOptimizedFabric>,  // rail_optimized
    topology_of<struct RailOnlyFabric>,       // rail_only
    topology_of<struct DualPlaneFabric>,      // dual_plane
    topology_of<struct KaryTreeFabric>,       // k_ary_n_tree
    topology_of<struct TorusFabric>,          // torus
    topology_of<struct MeshFabric>,           // mesh
    topology_of<struct FullMeshFabric>,       // full_mesh
    topology_of<struct HyperXFabric>,         // hyperx
    topology_of<struct DragonflyFabric>,      // dragonfly
    topology_of<struct DragonflyPlusFabric>,  // dragonfly_plus
    topology_of<struct SlimFlyFabric>,        // slim_fly
    topology_of<struct HammingMeshFabric>,    // hamming_mesh
    topology_of<struct JellyfishFabric>,      // jellyfish
};

const std::vector<Topology>& topologies() {
  static const std::vector<Topology> all = [] {
    std::vector<Topology> found;
    for (const auto& kind : kKinds) { found.push_back(kind()); }
    return found;
  }();
  return all;
}

}  // namespace athanor
