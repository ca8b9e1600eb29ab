#include <algorithm>

#include "topologies/generators/clos.hpp"
#include "topologies/kinds/clos_settings.hpp"

namespace athanor {

/// A fat tree in which NIC r of every node of a group is on leaf r of that group.
struct RailOptimizedFabric : FabricKind {
  ClosSettings clos;
  std::optional<std::uint32_t> nodes_per_group;

  static Topology words() {
    return {.name = "rail_optimized",
            .title = "Rail-optimized fat tree",
            .summary = "A fat tree with a leaf for each rail of a group of nodes",
            .explanation =
                "A fat tree in which NIC r of every node of a group is on leaf r of that group, so that GPUs of "
                "equal number meet at one leaf. NVIDIA's DGX SuperPOD and most clusters of eight-GPU nodes.",
            .symbols = "k ports of a switch, two tiers, r NICs per node; r divides k",
            .endpoints = "k^2/2: k/r groups of k/2 nodes",
            .switches = "3k/2",
            .cables = "k^2/2",
            .diameter = "4, on one rail within a group 2",
            .bisection = "k^2/4 between halves of the groups, where k/r is even",
            .source = "NVIDIA, \"DGX SuperPOD: reference architecture\", 2023",
            .routings = upward_routings()};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, clos);
    read_nodes_per_group(fields, nodes_per_group);
  }

  const Switching& switches() const override { return clos.switching; }

  Wide capacity(NicsPerNode nics) const override {
    if (!nics) { return 0; }
    return Wide{clos.leaves.value_or(0)} / std::max(*nics, 1U) * nodes_per_group.value_or(0);
  }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const Population& population = site.population;
    check_rails(population);
    const ClosSpec spec = clos.spec(site, nodes_per_group);
    const ClosShape shape = clos_shape(population.attachments(), population.attachments_each(), spec);
    return std::make_shared<Clos>("rail-optimized fat tree", population, shape, spec);
  }
};

template Topology topology_of<RailOptimizedFabric>();

}  // namespace athanor
