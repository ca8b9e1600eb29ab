#include <algorithm>

#include "sim/config/fields.hpp"
#include "topologies/generators/clos.hpp"
#include "topologies/kinds/clos_settings.hpp"

namespace athanor {

/// One switch.
struct StarFabric : FabricKind {
  Switching switching;

  static Topology words() {
    return {.name = "star",
            .title = "Star",
            .summary = "One switch",
            .explanation =
                "One switch that all hosts or NICs are on: the least network, and what larger ones are compared "
                "with. Racks and small clusters of one switch.",
            .symbols = "n hosts or NICs",
            .endpoints = "n, at most the radix",
            .switches = "1",
            .cables = "0",
            .diameter = "2",
            .bisection = "floor(n/2)",
            .source = "",
            .routings = upward_routings()};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, switching);
    fields.optional("radix", switching.radix, "Ports of the switch; default: of the preset, else any", kPositionRange);
  }

  const Switching& switches() const override { return switching; }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    ClosSpec spec;
    spec.host_cable = spec.up_cable = spec.core_cable = site.host_cable;
    const ClosShape shape = star_shape(site.population.attachments(), site.radix);
    return std::make_shared<Clos>("star", site.population, shape, spec);
  }
};

template Topology topology_of<StarFabric>();

/// Leaves, spines and cores; attachments fill leaf after leaf.
struct FatTreeFabric : ClosFabric {
  std::optional<std::uint32_t> hosts_per_leaf;

  static Topology words() {
    return {
        .name = "fat_tree",
        .title = "Fat tree",
        .summary = "Leaves, spines and, with three tiers, cores",
        .explanation =
            "Leaves, spines and, with three tiers, cores (a folded Clos network): up to a switch that both ends are "
            "below, and down. Without oversubscription every permutation of hosts finds paths that share no link. The "
            "usual network of InfiniBand and Ethernet clusters; with three tiers the leaves and spines of a pod hang "
            "together. Figures are of the full tree without oversubscription; partial and oversubscribed ones follow "
            "from what is said.",
        .symbols = "k ports of a switch, t tiers (2 or 3)",
        .endpoints = "2 (k/2)^t",
        .switches = "(2t - 1) (k/2)^(t-1)",
        .cables = "(t - 1) 2 (k/2)^t",
        .diameter = "2t",
        .bisection = "(k/2)^t",
        .source =
            "Leiserson, \"Fat-trees\", IEEE Trans. Computers 1985; Al-Fares, Loukissas, Vahdat, \"A scalable, "
            "commodity data center network architecture\", SIGCOMM 2008",
        .routings = upward_routings()};
  }

  void visit(Fields& fields) override {
    ClosFabric::visit(fields);
    read_hosts_per_leaf(fields, hosts_per_leaf);
  }

  Wide capacity(NicsPerNode nics) const override {
    return members_on(Wide{clos.leaves.value_or(0)} * hosts_per_leaf.value_or(0), nics);
  }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const ClosSpec spec = clos.spec(site, hosts_per_leaf);
    const ClosShape shape = clos_shape(site.population.attachments(), 0, spec);
    return std::make_shared<Clos>("fat tree", site.population, shape, spec);
  }
};

template Topology topology_of<FatTreeFabric>();

/// A fat tree in which NIC r of every node of a group is on leaf r of that group.
struct RailOptimizedFabric : RailFabric {
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
