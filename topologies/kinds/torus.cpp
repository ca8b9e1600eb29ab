#include <algorithm>

#include "sim/config/fields.hpp"
#include "topologies/kinds/grids.hpp"

namespace athanor {

/// A grid that closes on itself in every dimension. A bare device is a position and its own router. A node is one
/// position too: its NICs are on a router vertex of the node, and share its ports to the neighbours.
struct TorusFabric : FabricKind {
  using Twists = std::vector<std::vector<std::uint32_t>>;

  GridSettings grid;
  Twists twists;  ///< as in LatticeShape
  bool tpu_v4_twists = false;

  static Topology words() {
    return {
        .name = "torus",
        .title = "Torus",
        .summary = "A grid that closes on itself in every dimension, twisted or not",
        .explanation =
            "A grid that closes on itself in every dimension; a node is a position, and its NICs share the position's "
            "ports. Google's TPU v4 pods, IBM's Blue Gene/L, Fujitsu's Tofu. With \"twists\" who passes the end "
            "of "
            "one dimension comes back shifted in another: \"tpu_v4\" shifts those of 2 k by k wherever a dimension has "
            "the least length k, so that k x k x 2k and k x 2k x 2k slices look alike along every dimension.",
        .symbols = "n dimensions of k_i positions, N in all",
        .endpoints = "N",
        .switches = "0: positions forward",
        .cables = "N for each k_i > 2, N/2 for k_i = 2",
        .diameter = "sum floor(k_i / 2); k x k x 2k and k x 2k x 2k twisted: floor(3k / 2)",
        .bisection =
            "2 N / max k_i, that even and above 2; k x k x 2k twisted: 4 k^2 in place of 2 k^2, k x 2k x 2k: "
            "8 k^2 in place of 4 k^2",
        .source =
            "Dally, Towles, \"Principles and practices of interconnection networks\", 2004, chapter 5"
            "; Jouppi et al., \"TPU v4\", ISCA 2023; Camara et al., \"Twisted torus topologies for enhanced "
            "interconnection networks\", IEEE TPDS 2010; Camarero, Martinez, Beivide, \"Lattice graphs for "
            "high-scale interconnection topologies\", IEEE TPDS 2015; Adiga et al., \"Blue Gene/L torus "
            "interconnection network\", IBM J. Res. Dev. 2005; Ajima, Sumimoto, Shimizu, \"Tofu\", IEEE "
            "Computer 2009",
        .routings = {Routing::dimension_order}};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, grid);
    fields.optional_value("twists",
                          "Row i: how far who passes the end of dimension i is shifted in each other; \"tpu_v4\": a "
                          "dimension of the least length k shifts those of 2 k by k",
                          [&](FieldValue& value) { read_twists(value); });
  }

  void read_twists(FieldValue& fields) {
    using Type = FieldValue::Form::Type;
    const auto named = [&](FieldValue& value) {
      std::string word;
      value.visit(word, {{"tpu_v4"}});
      tpu_v4_twists = word == "tpu_v4";
    };
    const auto rows = [&](FieldValue& value) {
      value.list([&](FieldValue& row) {
        std::vector<std::uint32_t> shifts;
        row.visit(shifts, {0, kMostPositions});
        twists.push_back(std::move(shifts));
      });
    };
    fields.one_of({{Type::string, named}, {Type::list, rows}});
  }

  const Switching& switches() const override { return grid.switching; }
  bool members_are_routers() const override { return true; }
  VertexKind positions() const override { return grid.positions; }
  Wide capacity(NicsPerNode /*nics*/) const override { return product(grid.dimensions); }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const Twists chosen = tpu_v4_twists ? athanor::tpu_v4_twists(grid.dimensions) : twists;
    const bool twisted = std::any_of(chosen.begin(), chosen.end(), [](const auto& row) {
      return std::any_of(row.begin(), row.end(), [](std::uint32_t shift) { return shift != 0; });
    });
    return grid.build(site, twisted ? "twisted torus" : "torus", {grid.dimensions, {}, chosen});
  }
};

template Topology topology_of<TorusFabric>();

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
