#include <algorithm>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "topologies/generators/planes.hpp"
#include "topologies/kinds/clos_settings.hpp"

namespace athanor {

/// So many equal networks side by side, each attachment with a port to every one; counts are those of one plane.
struct DualPlaneFabric : FabricKind {
  ClosSettings clos;
  std::uint32_t planes = 2;
  std::optional<bool> by_rail;  ///< absent: where there are nodes
  std::optional<std::uint32_t> hosts_per_leaf, nodes_per_group;

  static Topology words() {
    return {
        .name = "dual_plane",
        .title = "Planes",
        .summary = "Fat trees side by side; every NIC has a port to each",
        .explanation =
            "Equal fat trees side by side; every NIC has a port to each, and its ports share its rate. A "
            "flow's hash chooses the plane, and a port that is down leaves the other. Alibaba's HPN, with "
            "two planes by rail.",
        .symbols = "p planes, each a tree of two tiers of switches of k ports",
        .endpoints = "k^2/2",
        .switches = "3 p k/2",
        .cables = "p k^2/2",
        .diameter = "4",
        .bisection = "p k^2/4, each of 1/p of a NIC's rate",
        .source = "Qian et al., \"Alibaba HPN: a data center network for large language model training\", SIGCOMM 2024",
        .routings = upward_routings()};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, clos);
    fields.optional("planes", planes, "Networks side by side, and ports of a NIC", {1, 64});
    fields.optional("by_rail", by_rail, "Whether planes are rail-optimized; default: where there are nodes");
    read_hosts_per_leaf(fields, hosts_per_leaf, ", not by rail");
    read_nodes_per_group(fields, nodes_per_group, ", by rail");
  }

  const Switching& switches() const override { return clos.switching; }
  std::uint32_t ports_per_nic() const override { return planes; }

  Wide capacity(NicsPerNode nics) const override {
    const Wide leaves = clos.leaves.value_or(0);
    if (!by_rail.value_or(nics.has_value())) { return members_on(leaves * hosts_per_leaf.value_or(0), nics); }
    return nics ? leaves / std::max(*nics, 1U) * nodes_per_group.value_or(0) : 0;
  }

  /// Only one of the two keys for what is on a leaf means something.
  void check(NicsPerNode nics, const Place& fabric, Problems& problems) const override {
    const bool rails = by_rail.value_or(nics.has_value());
    if (rails ? !hosts_per_leaf : !nodes_per_group) { return; }
    problems.add({"conflict",
                  rails ? "planes by rail have \"nodes_per_group\", not \"hosts_per_leaf\""
                        : "planes that are not by rail have \"hosts_per_leaf\", not \"nodes_per_group\"",
                  fabric, rails ? R"(or say "by_rail": false)" : R"(or say "by_rail": true)"});
  }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const Population& population = site.population;
    const bool by_rails = by_rail.value_or(population.node != nullptr);
    if (by_rails) { check_rails(population); }
    const ClosSpec spec = clos.spec(site, by_rails ? nodes_per_group : hosts_per_leaf);
    const std::uint32_t rails = by_rails ? population.attachments_each() : 0;
    return std::make_shared<Planes>(fmt::format("{}fat tree in {} planes", by_rails ? "rail-optimized " : "", planes),
                                    population, plane_shape(population.attachments(), rails, spec), spec,
                                    ClosPlane::Serves::one_port, planes);
  }
};

template Topology topology_of<DualPlaneFabric>();

}  // namespace athanor
