#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "topologies/generators/direct/direct_network.hpp"
#include "topologies/generators/direct/hyperx.hpp"
#include "topologies/kinds/grid_settings.hpp"

namespace athanor {

/// Members joined every two, or switches that are, with hosts or NICs on them: a HyperX of one dimension.
struct FullMeshFabric : FabricKind {
  Switching switching;
  std::optional<std::uint32_t> count;             ///< of switches
  std::optional<std::uint32_t> hosts_per_switch;  ///< this and `count` absent: members are joined themselves
  std::vector<std::uint32_t> cables;
  VertexKind at_positions = VertexKind::host;

  static Topology words() {
    return {.name = "full_mesh",
            .title = "Full mesh",
            .summary = "Nodes or switches that are joined every two",
            .explanation =
                "Nodes that are joined every two, or switches with hosts on them. The eight accelerators "
                "of Intel's Gaudi boards, and small clusters whose switches have ports to spare.",
            .symbols = "n nodes, or n switches with T hosts each; K cables side by side",
            .endpoints = "n, or n T",
            .switches = "0, or n",
            .cables = "K n (n - 1) / 2",
            .diameter = "1, or 3",
            .bisection = "K floor(n/2) ceil(n/2)",
            .source = "Dally, Towles (above), chapter 1; Intel, \"Gaudi network configuration\", docs.habana.ai",
            .routings = {Routing::dimension_order, Routing::valiant, Routing::ugal}};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, switching);
    read_radix(fields, switching);
    fields.optional("switches", count, "Switches that are joined; default: the nodes themselves are", kPositionRange);
    fields.optional("hosts_per_switch", hosts_per_switch, "Hosts or NICs on one switch", kPortRange);
    fields.optional_value("cables", "Side by side between every two",
                          [&](FieldValue& value) { read_cables(value, cables); });
    read_positions(fields, at_positions);
  }

  const Switching& switches() const override { return switching; }
  bool members_are_routers() const override { return !count && !hosts_per_switch; }
  VertexKind positions() const override { return at_positions; }

  Wide capacity(NicsPerNode nics) const override {
    return members_on(Wide{count.value_or(0)} * hosts_per_switch.value_or(0), nics);
  }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const std::uint32_t parallel = cables.empty() ? 1 : cables[0];
    std::uint32_t routers = site.population.members;
    DirectSpec spec{{}, {}, site.nic_cable, site.cable, site.cable};
    if (!members_are_routers()) {
      const std::uint32_t attachments = site.population.attachments();
      routers = count ? *count : divided_up(attachments, *hosts_per_switch);
      spec.hosts_per_router = hosts_per_switch.value_or(divided_up(attachments, routers));
      spec.radix = site.radix;
      spec.host_cable = site.host_cable;
    }
    std::string title = fmt::format("full mesh of {}{}", routers, spec.hosts_per_router ? " switches" : "");
    return std::make_shared<DirectNetwork>(
        site.population, std::make_shared<HyperX>("full mesh", std::move(title), HyperXShape{{routers}, {parallel}}),
        spec);
  }
};

template Topology topology_of<FullMeshFabric>();

}  // namespace athanor
