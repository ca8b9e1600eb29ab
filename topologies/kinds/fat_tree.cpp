#include "topologies/generators/clos.hpp"
#include "topologies/kinds/clos_settings.hpp"

namespace athanor {

/// Leaves, spines and cores; attachments fill leaf after leaf.
struct FatTreeFabric : FabricKind {
  ClosSettings clos;
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
    athanor::visit(fields, clos);
    read_hosts_per_leaf(fields, hosts_per_leaf);
  }

  const Switching& switches() const override { return clos.switching; }

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

}  // namespace athanor
