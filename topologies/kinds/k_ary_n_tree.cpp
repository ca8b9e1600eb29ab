#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "topologies/kinds/clos_settings.hpp"

namespace athanor {

namespace {

/// k^n; throws ScenarioError("does-not-fit") when that is beyond 2^31.
std::uint32_t kary_tree_hosts(std::uint32_t arity, std::uint32_t levels) {
  Wide hosts = 1;
  for (std::uint32_t level = 0; level < levels; ++level) {
    hosts *= arity;
    if (hosts <= Wide{1} << 31U) { continue; }
    throw ScenarioError(Problem{"does-not-fit",
                                fmt::format("a {}-ary {}-tree has more than two thousand million hosts", arity, levels),
                                {},
                                "use a lesser arity or fewer levels"});
  }
  return static_cast<std::uint32_t>(hosts);
}

struct KaryTreeSpec {
  std::uint32_t arity = 2;   ///< k: links down of every switch, and links up of all but those at the top
  std::uint32_t levels = 1;  ///< n
  CableSpec host_cable;
  CableSpec cable;  ///< between switches
};

/// A k-ary n-tree (Petrini and Vanneschi, "k-ary n-trees: high performance networks for massively parallel
/// architectures", IPPS 1997): n levels of k^(n-1) switches under which k^n hosts find place. Hosts p and switches w
/// are numbers in base k; host p is on switch p / k of level 0, and switch w of level l is joined to those k switches
/// of level l + 1 whose numbers differ from w in digit l at most.
///
/// Closed forms: k^n hosts, n k^(n-1) switches, n k^n cables, diameter 2n links, bisection k^n / 2 cables (k even).
///
/// Ports of a switch: up-link u leads to the switch whose digit l is u; then the links down in the order of hosts.
/// d-mod-k (Zahavi 2010) climbs by digit l of the destination at level l; ECMP by a hash; down there is one path.
class KaryTree : public NetworkTopology {
 public:
  /// Throws ScenarioError("does-not-fit") for more attachments than hosts find place.
  KaryTree(const Population& population, const KaryTreeSpec& spec) : population_(population), spec_(spec) {
    require(spec.arity > 1 && spec.levels > 0, "a {}-ary {}-tree", spec.arity, spec.levels);
    const std::uint32_t most = kary_tree_hosts(spec.arity, spec.levels);
    if (population.attachments() > most) {
      throw ScenarioError(Problem{"does-not-fit",
                                  fmt::format("{} hosts or NICs do not fit a {}-ary {}-tree, which takes {}",
                                              population.attachments(), spec.arity, spec.levels, most),
                                  {},
                                  "use more levels, or a greater arity"});
    }

    for (std::uint32_t d = 0; d <= spec.levels; ++d) { powers_.push_back(d == 0 ? 1 : powers_.back() * spec.arity); }
    width_ = powers_[spec.levels - 1];
  }

  std::string title() const override { return fmt::format("{}-ary {}-tree", spec_.arity, spec_.levels); }
  std::uint64_t vertices() const override { return std::uint64_t{spec_.levels} * width_; }
  std::uint64_t links() const override {
    return 2 * (population_.attachments() + std::uint64_t{spec_.levels - 1} * width_ * spec_.arity);
  }

  void add_vertices(FabricBuilder& builder) override {
    for (std::uint32_t level = 0; level < spec_.levels; ++level) {
      const std::uint32_t numbered = kind(level) == VertexKind::spine ? (level - 1) * width_ : 0;
      for (std::uint32_t w = 0; w < width_; ++w) {
        const VertexId added = builder.add({kind(level), kNoNode, numbered + w});
        if (level == 0 && w == 0) { first_ = added.value; }
      }
    }
  }

  /// From the top down, so that a switch has its up-links before its links down. Link down number c of a switch of
  /// level l + 1 leads to the one below whose digit l is c: the loop over w visits those in ascending order.
  void add_links(FabricBuilder& builder) const override {
    for (std::uint32_t level = spec_.levels - 1; level > 0; --level) {
      for (std::uint32_t w = 0; w < width_; ++w) {
        for (std::uint32_t up = 0; up < spec_.arity; ++up) {
          builder.connect(at(level - 1, w), at(level, with_digit(w, level - 1, up)), from_switch(spec_.cable));
        }
      }
    }
    for (std::uint32_t a = 0; a < population_.attachments(); ++a) {
      const CableSpec cable = host_cable(spec_.host_cable, population_, a);
      builder.connect(population_.attachment(a), at(0, a / spec_.arity), from_device(cable, population_.forwarding(a)),
                      from_switch(cable));
    }
  }

  std::vector<Routing> routings() const override { return {Routing::d_mod_k, Routing::ecmp}; }
  void route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
             std::uint64_t flow, std::vector<LinkId>& path) const override {
    require(choice.routing != Routing::dimension_order, "dimension order on a k-ary n-tree");
    const auto take = [&](VertexId v, std::uint32_t port) { path.push_back(LinkId{fabric.out(v).first + port}); };
    std::uint64_t hash = join_hash(join_hash(join_hash(choice.seed, from), to), flow);
    take(population_.attachment(from), population_.network_port(from));
    std::uint32_t w = from / spec_.arity;
    const std::uint32_t target = to / spec_.arity;
    std::uint32_t level = 0;
    for (; w / powers_[level] != target / powers_[level]; ++level) {
      hash = join_hash(hash, 1);
      const std::uint32_t up = choice.routing == Routing::d_mod_k
                                   ? digit(to, level)
                                   : static_cast<std::uint32_t>(scale_hash(hash, spec_.arity));
      take(at(level, w), up);
      w = with_digit(w, level, up);
    }
    for (; level > 0; --level) {
      const std::uint32_t down = digit(target, level - 1);
      take(at(level, w), up_links(level) + down);
      w = with_digit(w, level - 1, down);
    }
    take(at(0, w), up_links(0) + to % spec_.arity);
  }

  std::vector<CutSet> cut_sets() const override {
    std::vector<CutSet> found;
    for (std::uint32_t height = 1; height < spec_.levels; ++height) {
      found.push_back(subtrees(fmt::format("subtree of {} hosts", powers_[height]), height, 1));
    }
    // The highest level whose subtrees are several in use is the one that halves.
    std::uint32_t height = spec_.levels - 1;
    while (height > 0 && population_.attachments() <= powers_[height]) { --height; }
    const std::uint32_t used = (population_.attachments() + powers_[height] - 1) / powers_[height];
    if (used < 2 || population_.members < 2) { return found; }
    const std::string_view what = height > 0 ? "subtrees" : population_.node ? "nodes" : "hosts";
    CutSet half = subtrees(fmt::format("half of the {}", what), height, used / 2);
    half.half = true;
    found.push_back(std::move(half));
    return found;
  }

  std::vector<TierSummary> tiers() const override {
    std::vector<TierSummary> found;
    for (std::uint32_t level = 0; level < spec_.levels; ++level) {
      const CableSpec& below = level == 0 ? spec_.host_cable : spec_.cable;
      const Ratio ratio = top(level) ? Ratio{0, 1} : Ratio{below.rate.count(), spec_.cable.rate.count()};
      found.push_back({fmt::format("level {}", level), width_, ratio});
    }
    return found;
  }

  std::vector<std::string> warnings() const override {
    const std::uint32_t places = powers_[spec_.levels];
    if (population_.attachments() == places) { return {}; }
    return {fmt::format("{} of the {} places of the {}-ary {}-tree are in use", population_.attachments(), places,
                        spec_.arity, spec_.levels)};
  }

 private:
  bool top(std::uint32_t level) const { return level + 1 == spec_.levels; }
  std::uint32_t up_links(std::uint32_t level) const { return top(level) ? 0 : spec_.arity; }
  VertexId at(std::uint32_t level, std::uint32_t w) const { return VertexId{first_ + level * width_ + w}; }
  std::uint32_t digit(std::uint32_t number, std::uint32_t d) const { return number / powers_[d] % spec_.arity; }
  std::uint32_t with_digit(std::uint32_t number, std::uint32_t d, std::uint32_t value) const {
    return number - digit(number, d) * powers_[d] + value * powers_[d];
  }

  VertexKind kind(std::uint32_t level) const {
    if (level == 0) { return VertexKind::leaf; }
    return top(level) && spec_.levels > 2 ? VertexKind::core : VertexKind::spine;
  }

  /// The first `count` subtrees of k^height hosts, with their switches.
  CutSet subtrees(std::string name, std::uint32_t height, std::uint32_t count) const {
    const std::uint64_t slots =
        std::min<std::uint64_t>(std::uint64_t{count} * powers_[height], population_.attachments());
    const std::uint32_t members = population_.members_within(static_cast<std::uint32_t>(slots));
    CutSet found{std::move(name), {population_.range(0, members)}, false};
    for (std::uint32_t level = 0; level < height; ++level) {
      found.inside.push_back({at(level, 0).value, count * powers_[height - 1]});
    }
    return found;
  }

  Population population_;
  KaryTreeSpec spec_;
  std::uint32_t width_ = 1;            ///< switches of a level
  std::vector<std::uint32_t> powers_;  ///< of k, up to k^n
  std::uint32_t first_ = 0;            ///< vertex
};

}  // namespace

struct KaryTreeFabric : FabricKind {
  Switching switching;
  std::uint32_t arity = 0;
  std::uint32_t levels = 0;

  static Topology words() {
    return {.name = "k_ary_n_tree",
            .title = "k-ary n-tree",
            .summary = "n levels of k^(n-1) switches under k^n hosts",
            .explanation =
                "A fat tree of equal switches on any number of levels, each with k links down and k up. The form "
                "in which fat trees are analysed; Quadrics networks were 4-ary.",
            .symbols = "arity k, n levels",
            .endpoints = "k^n",
            .switches = "n k^(n-1)",
            .cables = "(n - 1) k^n",
            .diameter = "2n",
            .bisection = "k^n / 2, k even",
            .source =
                "Petrini, Vanneschi, \"k-ary n-trees: high performance networks for massively parallel "
                "architectures\", IPPS 1997; Petrini et al., \"The Quadrics network\", IEEE Micro 2002",
            .routings = upward_routings()};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, switching);
    fields.required("arity", arity, "k: links down of every switch, and up", {2, kMostPorts});
    fields.required("levels", levels, "n: of switches; k^n hosts or NICs find place", {1, 31});
  }

  const Switching& switches() const override { return switching; }
  Wide capacity(NicsPerNode nics) const override { return members_on(kary_tree_hosts(arity, levels), nics); }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const std::uint32_t ports = arity * (levels > 1 ? 2 : 1);
    if (site.radix && *site.radix < ports) {
      throw ScenarioError(Problem{"does-not-fit",
                                  fmt::format("a switch of a {}-ary {}-tree needs {} ports, but the switches have {}",
                                              arity, levels, ports, *site.radix),
                                  {},
                                  "use a lesser arity, or larger switches"});
    }
    return std::make_shared<KaryTree>(site.population, KaryTreeSpec{arity, levels, site.host_cable, site.cable});
  }
};

template Topology topology_of<KaryTreeFabric>();

}  // namespace athanor
