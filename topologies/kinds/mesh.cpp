#include "sim/config/fields.hpp"
#include "topologies/kinds/grid_settings.hpp"

namespace athanor {

/// A grid with ends; members are positions as on a torus.
struct MeshFabric : FabricKind {
  GridSettings grid;
  std::vector<bool> wrap;  ///< by dimension: closes on itself all the same. Empty: none does

  static Topology words() {
    return {.name = "mesh",
            .title = "Mesh",
            .summary = "A grid with ends",
            .explanation =
                "A grid with ends, of any dimensions; \"wrap\" closes some of them. One virtual "
                "channel is enough for it.",
            .symbols = "n dimensions of k_i positions, N in all",
            .endpoints = "N",
            .switches = "0: positions forward",
            .cables = "sum N (k_i - 1) / k_i",
            .diameter = "sum (k_i - 1)",
            .bisection = "N / max k_i, that even",
            .source = "Dally, Towles, \"Principles and practices of interconnection networks\", 2004, chapter 5",
            .routings = {Routing::dimension_order}};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, grid);
    fields.optional("wrap", wrap, "By dimension: whether it closes on itself; default: none does");
  }

  const Switching& switches() const override { return grid.switching; }
  bool members_are_routers() const override { return true; }
  VertexKind positions() const override { return grid.positions; }
  Wide capacity(NicsPerNode /*nics*/) const override { return product(grid.dimensions); }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    std::vector<bool> open(wrap.empty() ? grid.dimensions.size() : wrap.size(), true);
    for (std::size_t d = 0; d < wrap.size(); ++d) { open[d] = !wrap[d]; }
    return grid.build(site, "mesh", {grid.dimensions, open, {}});
  }
};

template Topology topology_of<MeshFabric>();

}  // namespace athanor
