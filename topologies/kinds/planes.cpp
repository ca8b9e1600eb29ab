#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "topologies/generators/clos.hpp"
#include "topologies/kinds/clos_settings.hpp"
#include "topologies/network_topology.hpp"

namespace athanor {

namespace {

/// Several equal Clos networks side by side that nothing joins above:
///  - rail-only (Wang et al., "Rail-only: A Low-Cost High-Performance Network for Training LLMs with Trillion
///    Parameters", 2023): network r takes NIC r of every node, and what changes rails does so inside a node;
///  - planes (dual-plane: Qian et al., "Alibaba HPN", SIGCOMM 2024): each attachment has a port to every network. The
///    hash of a flow chooses the plane; where a link of its path is down there, the next plane takes it.
class Planes : public NetworkTopology {
 public:
  /// `shape`: of one network. `planes`: of `serves` one_port how many there are; of one_rail the NICs of a node.
  Planes(std::string title, const Population& population, const ClosShape& shape, const ClosSpec& cables,
         ClosPlane::Serves serves, std::uint32_t planes)
      : title_(std::move(title)), population_(population), rails_(serves == ClosPlane::Serves::one_rail) {
    require(serves != ClosPlane::Serves::all && planes > 0, "{} planes", planes);
    require(!rails_ || planes == population.attachments_each(), "{} rails for nodes with {} NICs", planes,
            population.attachments_each());
    for (std::uint32_t plane = 0; plane < planes; ++plane) {
      planes_.emplace_back(title_, population, shape, cables, ClosPlane{serves, plane});
    }
  }

  std::string title() const override { return title_; }
  std::uint64_t vertices() const override { return planes_.size() * planes_.front().vertices(); }
  std::uint64_t links() const override { return planes_.size() * planes_.front().links(); }
  void add_vertices(FabricBuilder& builder) override {
    for (Clos& plane : planes_) { plane.add_vertices(builder); }
  }
  /// Plane after plane, so that port p of an attachment leads to plane p.
  void add_links(FabricBuilder& builder) const override {
    for (const Clos& plane : planes_) { plane.add_links(builder); }
  }
  std::vector<Routing> routings() const override { return planes_.front().routings(); }
  void route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
             std::uint64_t flow, std::vector<LinkId>& path) const override {
    const auto planes = static_cast<std::uint32_t>(planes_.size());
    if (rails_) {
      require(from % planes == to % planes, "a route from rail {} to rail {}", from % planes, to % planes);
      return planes_[from % planes].route(fabric, choice, from / planes, to / planes, flow, path);
    }
    const std::uint64_t hash = join_hash(join_hash(join_hash(join_hash(choice.seed, 2), from), to), flow);
    const auto first = static_cast<std::uint32_t>(scale_hash(hash, planes));
    const std::size_t begin = path.size();
    for (std::uint32_t turn = 0; turn < planes; ++turn) {
      path.resize(begin);
      planes_[(first + turn) % planes].route(fabric, choice, from, to, flow, path);
      const bool broken =
          fabric.links_down() > 0 && std::any_of(path.begin() + static_cast<std::ptrdiff_t>(begin), path.end(),
                                                 [&](LinkId link) { return fabric.link(link).down; });
      if (!broken) { return; }
    }
  }
  std::uint32_t detours() const override { return planes_.front().detours(); }
  bool rails_apart() const override { return rails_; }
  /// Those of the first network, with the same switches of all others.
  std::vector<CutSet> cut_sets() const override {
    std::vector<CutSet> found = planes_.front().cut_sets();
    for (std::size_t plane = 1; plane < planes_.size(); ++plane) {
      const std::vector<CutSet> others = planes_[plane].cut_sets();
      for (std::size_t d = 0; d < found.size(); ++d) {
        for (const VertexRange& range : others[d].inside) {
          if (range.first >= population_.vertices()) { found[d].inside.push_back(range); }
        }
      }
    }
    for (CutSet& set : found) {
      if (!set.half) { set.name += rails_ ? " of every rail" : " of every plane"; }
    }
    return found;
  }
  std::vector<TierSummary> tiers() const override {
    std::vector<TierSummary> found = planes_.front().tiers();
    for (TierSummary& tier : found) { tier.switches *= static_cast<std::uint32_t>(planes_.size()); }
    return found;
  }
  std::vector<std::string> warnings() const override { return planes_.front().warnings(); }

 private:
  std::string title_;
  Population population_;
  bool rails_;
  std::vector<Clos> planes_;
};

}  // namespace

/// A network for each rail, of one switch where that takes all nodes; NICs of different rails are not joined. Counts
/// are those of one rail.
struct RailOnlyFabric : RailFabric {
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

/// So many equal networks side by side, each attachment with a port to every one; counts are those of one plane.
struct DualPlaneFabric : ClosFabric {
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
    ClosFabric::visit(fields);
    fields.optional("planes", planes, "Networks side by side, and ports of a NIC", {1, 64});
    fields.optional("by_rail", by_rail, "Whether planes are rail-optimized; default: where there are nodes");
    read_hosts_per_leaf(fields, hosts_per_leaf, ", not by rail");
    read_nodes_per_group(fields, nodes_per_group, ", by rail");
  }

  std::uint32_t ports_per_nic() const override { return planes; }

  Wide capacity(NicsPerNode nics) const override {
    const Wide leaves = clos.leaves.value_or(0);
    if (!by_rail.value_or(nics.has_value())) { return members_on(leaves * hosts_per_leaf.value_or(0), nics); }
    return nics ? leaves / std::max(*nics, 1U) * nodes_per_group.value_or(0) : 0;
  }

  /// Only one of the two keys for what is on a leaf means something.
  void check(NicsPerNode nics, const SourceLocation& fabric, Problems& problems) const override {
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
