#include <fmt/core.h>

#include "sim/error.hpp"
#include "topologies/generators/planes.hpp"
#include "topologies/kinds/clos_settings.hpp"

namespace athanor {

/// A network for each rail, of one switch where that takes all nodes; NICs of different rails are not joined. Counts
/// are those of one rail.
struct RailOnlyFabric : FabricKind {
  ClosSettings clos;
  std::optional<std::uint32_t> nodes_per_group;

  static Topology words() {
    return {.name = "rail_only",
            .title = "Rail-only",
            .summary = "A network for each rail, joined only inside nodes",
            .explanation =
                "A network for each rail: NIC r of every node is on network r, one switch where that takes all "
                "nodes, and nothing joins them but the nodes. Data for another rail goes over NVLink first, to "
                "the GPU beside the right NIC. Proposed for training, where nearly all traffic stays on a rail.",
            .symbols = "r NICs per node, n nodes, one switch per rail",
            .endpoints = "n r, n at most the radix",
            .switches = "r",
            .cables = "0",
            .diameter = "2 between NICs of a rail",
            .bisection = "r floor(n/2)",
            .source =
                "Wang et al., \"Rail-only: a low-cost high-performance network for training LLMs with trillion "
                "parameters\", 2023",
            .routings = upward_routings()};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, clos);
    read_nodes_per_group(fields, nodes_per_group);
  }

  const Switching& switches() const override { return clos.switching; }

  Wide capacity(NicsPerNode nics) const override {
    return nics ? Wide{clos.leaves.value_or(0)} * nodes_per_group.value_or(0) : 0;
  }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const Population& population = site.population;
    if (!population.node) {
      throw ScenarioError(Problem{"does-not-fit", "hosts without an inside have no rails", {}, "name a \"node\""});
    }
    check_rails(population);
    const std::uint32_t rails = population.attachments_each();
    const ClosSpec spec = clos.spec(site, nodes_per_group);
    return std::make_shared<Planes>(fmt::format("rail-only network of {} rails", rails), population,
                                    plane_shape(population.members, 0, spec), spec, ClosPlane::Serves::one_rail, rails);
  }
};

template Topology topology_of<RailOnlyFabric>();

}  // namespace athanor
