#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"
#include "topologies/generators/direct/direct_network.hpp"
#include "topologies/generators/direct/router_graph.hpp"
#include "topologies/kinds/fabric_kind.hpp"
#include "topologies/kinds/grids.hpp"

namespace athanor {

namespace {

/// Switches at the positions of a box, each joined to all that differ from it in one dimension only.
struct HyperXShape {
  std::vector<std::uint32_t> dimensions;  ///< S_i: switches along each
  std::vector<std::uint32_t> cables;      ///< K_i: between two switches, by dimension; empty: one
};

/// No switch of more ports is looked at: ports are counted in 32 bits.
constexpr std::uint64_t kMostPorts = 1U << 20U;

void check_ports(const std::string& what, const HyperXShape& shape) {
  std::uint64_t ports = 0;
  for (std::size_t d = 0; d < shape.dimensions.size(); ++d) {
    ports += std::uint64_t{d < shape.cables.size() ? shape.cables[d] : 1} * (shape.dimensions[d] - 1);
  }
  if (ports <= kMostPorts) { return; }
  throw ScenarioError(Problem{"does-not-fit",
                              fmt::format("{} in which every switch needs {} ports to others", what, ports),
                              {},
                              "spread the switches over more dimensions"});
}

/// The dimensions, where they make a shape.
const std::vector<std::uint32_t>& checked(const std::string& what, const HyperXShape& shape) {
  check_box(what, shape.dimensions);
  check_ports(what, shape);
  if (shape.cables.empty() || shape.cables.size() == shape.dimensions.size()) { return shape.dimensions; }
  throw ScenarioError(Problem{
      "does-not-fit",
      fmt::format("{} of {} dimensions, but {} numbers of cables", what, shape.dimensions.size(), shape.cables.size()),
      {},
      "give one number for all dimensions, or one for each"});
}

/// HyperX (Ahn, Binkert, Davis, McLaren, Schreiber, "HyperX: topology, routing, and packaging of efficient large-scale
/// networks", SC'09); of one dimension a full mesh, of two a "2D full mesh", of sides of 2 a hypercube. For L
/// dimensions of S_i switches, N = S_1 ... S_L in all, K_i cables between two switches, T endpoints on each:
///   endpoints  N T
///   switches   N, of radix T + sum K_i (S_i - 1)
///   cables     N / 2 sum K_i (S_i - 1) between switches
///   diameter   L between switches, L + 2 between endpoints
///   bisection  min over i of K_i N / S_i floor(S_i / 2) ceil(S_i / 2) cables: for even S_i  K_i S_i N / 4
///
/// Routing `dimension_order`: one hop in each dimension in which two differ, which is a shortest path. `valiant`: the
/// same to a switch drawn by the flow, and on from there; at most 2 L hops. Of parallel cables one is drawn.
///
/// Ports: for each dimension those to the other switches along it in ascending order, K_i side by side.
class HyperX : public ValiantGraph {
 public:
  /// `name`: "HyperX", for errors. Throws ScenarioError("does-not-fit", "too-large") where the shape is none.
  HyperX(const std::string& name, std::string title, const HyperXShape& shape)
      : title_(std::move(title)), box_(checked("a " + name, shape)), cables_(shape.cables), first_port_{0} {
    cables_.resize(shape.dimensions.size(), 1);
    for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
      first_port_.push_back(first_port_.back() + cables_[d] * (box_.size(d) - 1));
    }
  }

  std::string title() const override { return title_; }
  PictureHint picture() const override { return {"box", box_.sizes()}; }

  std::uint32_t routers() const override { return box_.positions(); }
  std::uint32_t ports(std::uint32_t /*router*/) const override { return first_port_.back(); }
  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override {
    const auto after = std::upper_bound(first_port_.begin(), first_port_.end(), port);
    require(after != first_port_.begin() && after != first_port_.end(), "port {} of a HyperX", port);
    const auto d = static_cast<std::uint32_t>(after - first_port_.begin() - 1);
    const std::uint32_t other = (port - first_port_[d]) / cables_[d];
    return box_.with(router, d, other + (other >= box_.at(router, d) ? 1 : 0));
  }
  std::vector<Routing> routings() const override { return {Routing::dimension_order, Routing::valiant}; }
  std::vector<RouterSet> cut_sets() const override { return box_.halves(); }
  bool is_vertex_transitive() const override { return true; }

 private:
  void walk_directly(FlowDraws& draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const override {
    std::uint32_t router = from;
    for (std::uint32_t d = 0; d < box_.dimensions(); ++d) {
      const std::uint32_t at = box_.at(router, d);
      const std::uint32_t target = box_.at(to, d);
      if (at == target) { continue; }
      const std::uint32_t other = target - (target > at ? 1 : 0);
      path.take(router, first_port_[d] + other * cables_[d] + draws.below(cables_[d]));
      router = box_.with(router, d, target);
    }
  }

  std::string title_;
  Coordinates box_;
  std::vector<std::uint32_t> cables_;
  std::vector<std::uint32_t> first_port_;  // by dimension, and one more at the end
};

}  // namespace

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
    std::string title = fmt::format("HyperX of {} switches", joined(dimensions, " x "));
    return std::make_shared<DirectNetwork>(site.population, std::make_shared<HyperX>("HyperX", std::move(title), shape),
                                           DirectSpec{hosts, site.radix, site.host_cable, site.cable, site.cable});
  }
};

template Topology topology_of<HyperXFabric>();

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
