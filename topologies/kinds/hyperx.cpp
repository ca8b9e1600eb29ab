#include "topologies/generators/direct/hyperx.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/config/fields.hpp"
#include "topologies/generators/direct/direct_network.hpp"
#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

/// Switches in a box.
struct HyperXFabric : FabricKind {
  Switching switching;
  std::vector<std::uint32_t> dimensions;
  std::vector<std::uint32_t> cables;              ///< of all dimensions, or of each
  std::optional<std::uint32_t> hosts_per_switch;  ///< absent: as few as take all

  static Topology words() {
    return {.name = "hyperx",
            .title = "HyperX",
            .summary = "Switches in a box, each joined to all along every dimension",
            .explanation =
                "Switches at the positions of a box, each joined to all others along every dimension: few hops "
                "at a low cost per host. Of one dimension it is a full mesh of switches, of two a \"2D full "
                "mesh\" or flattened butterfly, of sides of two a hypercube.",
            .symbols = "L dimensions of S_i switches, N in all; T hosts per switch; K_i cables side by side",
            .endpoints = "N T",
            .switches = "N, of radix T + sum K_i (S_i - 1)",
            .cables = "N/2 sum K_i (S_i - 1)",
            .diameter = "L + 2",
            .bisection = "min K_i N / S_i floor(S_i / 2) ceil(S_i / 2)",
            .source =
                "Ahn, Binkert, Davis, McLaren, Schreiber, \"HyperX: topology, routing, and packaging of efficient "
                "large-scale networks\", SC'09",
            .routings = {Routing::dimension_order, Routing::valiant, Routing::ugal}};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, switching);
    read_radix(fields, switching);
    fields.required("dimensions", dimensions, "Switches along each dimension", kPositionRange);
    fields.optional("hosts_per_switch", hosts_per_switch, "Hosts or NICs on one switch; default: as few as take all",
                    kPortRange);
    fields.optional_value("cables", "Side by side between two switches, of all dimensions or of each",
                          [&](FieldValue& value) { read_cables(value, cables); });
  }

  const Switching& switches() const override { return switching; }

  Wide capacity(NicsPerNode nics) const override {
    return members_on(product(dimensions) * hosts_per_switch.value_or(0), nics);
  }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const Wide all = std::max<Wide>(product(dimensions), 1);
    const std::uint32_t hosts = hosts_per_switch.value_or(divided_up(site.population.attachments(), all));
    HyperXShape shape{dimensions, cables};
    if (cables.size() == 1) { shape.cables.resize(dimensions.size(), cables[0]); }
    std::string title = fmt::format("HyperX of {} switches", fmt::join(dimensions, " x "));
    return std::make_shared<DirectNetwork>(site.population, std::make_shared<HyperX>("HyperX", std::move(title), shape),
                                           DirectSpec{hosts, site.radix, site.host_cable, site.cable, site.cable});
  }
};

template Topology topology_of<HyperXFabric>();

}  // namespace athanor
