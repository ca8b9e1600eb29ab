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

}  // namespace athanor
