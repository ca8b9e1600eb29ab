#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "topologies/generators/direct/direct_network.hpp"
#include "topologies/generators/direct/router_graph.hpp"
#include "topologies/kinds/groups.hpp"

namespace athanor {

namespace {

struct DragonflyPlusShape {
  std::uint32_t groups = 1;            ///< g
  std::uint32_t leaves_per_group = 1;  ///< l
  std::uint32_t spines_per_group = 1;  ///< s
  std::uint32_t global_per_spine = 1;  ///< h: ports for cables to other groups
  Arrangement arrangement = Arrangement::palm_tree;
};

/// The shape, where there is such a dragonfly+.
const DragonflyPlusShape& checked(const DragonflyPlusShape& shape) {
  check_box("a dragonfly+", {shape.groups, shape.leaves_per_group});
  check_box("a dragonfly+", {shape.groups, shape.spines_per_group});
  check_groups(shape.groups, shape.spines_per_group, "spine", shape.global_per_spine);
  return shape;
}

/// Dragonfly+ (Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi, "Dragonfly+: low cost topology for scaling
/// datacenters", HiPINEB 2017): in a group every leaf is joined to every spine, the g groups every two by
/// K = floor(s h / (g - 1)) cables between spines; each leaf has p endpoints.
///   endpoints  g l p
///   switches   g (l + s)
///   cables     g l s within groups, K g (g - 1) / 2 between them
///   diameter   3 between leaves (up, across, down), 5 between endpoints
///   halves     of the groups: K floor(g / 2) ceil(g / 2) cables
///
/// Routing `minimal`: within a group by a spine that is drawn, between groups by one of the K cables, drawn; both are
/// shortest paths. `valiant`: to a third group drawn by the flow and on from there, over a leaf of it where cables
/// end at different spines.
///
/// Routers: the leaves of all groups, then the spines of all groups. Ports of a leaf: the spines of its group. Of a
/// spine: the leaves of its group, then the cables to other groups, slot s h + k of the group on spine s.
class DragonflyPlus : public RouterGraph {
 public:
  /// Throws ScenarioError("does-not-fit") where there are more groups than s h + 1, "too-large" for too many routers.
  explicit DragonflyPlus(const DragonflyPlusShape& shape)
      : shape_(checked(shape)),
        global_(shape.groups, shape.spines_per_group * shape.global_per_spine, shape.arrangement) {}

  std::string title() const override {
    return fmt::format("dragonfly+ of {} groups of {} leaves and {} spines", shape_.groups, shape_.leaves_per_group,
                       shape_.spines_per_group);
  }

  PictureHint picture() const override {
    return {"groups", {shape_.groups, shape_.leaves_per_group, shape_.spines_per_group}};
  }

  std::uint32_t routers() const override { return leaves() + shape_.groups * shape_.spines_per_group; }
  std::uint32_t hosting() const override { return leaves(); }
  VertexKind kind(std::uint32_t router) const override {
    return router < leaves() ? VertexKind::leaf : VertexKind::spine;
  }

  std::uint32_t ports(std::uint32_t router) const override {
    if (router < leaves()) { return shape_.spines_per_group; }
    const std::uint32_t first_slot = (router - leaves()) % shape_.spines_per_group * shape_.global_per_spine;
    return shape_.leaves_per_group + global_.used_of(first_slot, shape_.global_per_spine);
  }

  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override {
    if (router < leaves()) { return leaves() + router / shape_.leaves_per_group * shape_.spines_per_group + port; }
    const std::uint32_t group = (router - leaves()) / shape_.spines_per_group;
    if (port < shape_.leaves_per_group) { return group * shape_.leaves_per_group + port; }
    const std::uint32_t slot =
        (router - leaves()) % shape_.spines_per_group * shape_.global_per_spine + port - shape_.leaves_per_group;
    return spine(global_.target(group, slot), global_.far_slot(group, slot));
  }

  bool is_global(std::uint32_t router, std::uint32_t port) const override {
    return router >= leaves() && port >= shape_.leaves_per_group;
  }

  std::vector<Routing> routings() const override { return {Routing::minimal, Routing::valiant}; }
  void walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const override {
    const std::uint32_t source = from / shape_.leaves_per_group;
    const std::uint32_t target = to / shape_.leaves_per_group;
    if (source == target) {
      const std::uint32_t by = leaves() + source * shape_.spines_per_group + draws.below(shape_.spines_per_group);
      up(from, by, path);
      down(by, to, path);
    } else if (routing == Routing::valiant && shape_.groups > 2) {
      by_third_group(draws, from, to, path);
    } else {
      const std::uint32_t slot = global_.slot(source, target, draws.below(global_.per_pair()));
      up(from, spine(source, slot), path);
      across(spine(source, slot), slot, path);
      down(spine(target, global_.far_slot(source, slot)), to, path);
    }
  }

  std::vector<RouterSet> cut_sets() const override {
    const auto groups = [&](std::string name, std::uint32_t count, bool half) {
      return RouterSet{
          std::move(name), {{0, count * shape_.leaves_per_group}, {leaves(), count * shape_.spines_per_group}}, half};
    };
    if (shape_.groups > 1) {
      return {groups("group 0", 1, false), groups("half of the groups", shape_.groups / 2, true)};
    }
    if (shape_.leaves_per_group == 1) { return {}; }
    return {{"half of the leaves", {{0, shape_.leaves_per_group / 2}}, true}};
  }

 private:
  std::uint32_t leaves() const { return shape_.groups * shape_.leaves_per_group; }
  std::uint32_t spine(std::uint32_t group, std::uint32_t slot) const {
    return leaves() + group * shape_.spines_per_group + slot / shape_.global_per_spine;
  }

  void up(std::uint32_t leaf, std::uint32_t spine, PathBuilder& path) const {
    path.take(leaf, (spine - leaves()) % shape_.spines_per_group);
  }

  void down(std::uint32_t spine, std::uint32_t leaf, PathBuilder& path) const {
    path.take(spine, leaf % shape_.leaves_per_group);
  }

  void across(std::uint32_t spine, std::uint32_t slot, PathBuilder& path) const {
    path.take(spine, shape_.leaves_per_group + slot % shape_.global_per_spine);
  }

  void by_third_group(FlowDraws& draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const {
    const std::uint32_t source = from / shape_.leaves_per_group;
    const std::uint32_t target = to / shape_.leaves_per_group;
    const std::uint32_t third = global_.third(draws, source, target);
    const std::uint32_t there = global_.slot(source, third, draws.below(global_.per_pair()));
    const std::uint32_t on = global_.slot(third, target, draws.below(global_.per_pair()));
    const std::uint32_t entry = spine(third, global_.far_slot(source, there));
    const std::uint32_t exit = spine(third, on);
    up(from, spine(source, there), path);
    across(spine(source, there), there, path);
    if (entry != exit) {
      const std::uint32_t leaf = third * shape_.leaves_per_group + draws.below(shape_.leaves_per_group);
      down(entry, leaf, path);
      up(leaf, exit, path);
    }
    across(exit, on, path);
    down(spine(target, global_.far_slot(third, on)), to, path);
  }

  DragonflyPlusShape shape_;
  GlobalCables global_;
};

}  // namespace

struct DragonflyPlusFabric : FabricKind {
  GroupSettings groups;
  std::uint32_t leaves_per_group = 1;             ///< l
  std::optional<std::uint32_t> spines_per_group;  ///< absent: l
  std::optional<std::uint32_t> hosts_per_leaf;    ///< absent: l
  std::optional<std::uint32_t> global_cables;     ///< of one spine; absent: l

  static Topology words() {
    return {.name = "dragonfly_plus",
            .title = "Dragonfly+",
            .summary = "Groups of leaves and spines, joined by cables between spines",
            .explanation =
                "A dragonfly whose groups are two-tier trees: every leaf of a group on every spine of it, cables "
                "between groups from spine to spine. More hosts than a dragonfly of the same switches, and any "
                "traffic within a group. InfiniBand clusters such as Niagara and Leonardo.",
            .symbols =
                "g groups of l leaves and s spines, p hosts per leaf, h global cables per spine; "
                "K = floor(s h / (g - 1))",
            .endpoints = "g l p, g <= s h + 1",
            .switches = "g (l + s)",
            .cables = "g l s within groups, K g (g - 1) / 2 between them",
            .diameter = "5",
            .bisection = "K floor(g/2) ceil(g/2), between halves of the groups",
            .source =
                "Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi, \"Dragonfly+: low cost topology for scaling "
                "datacenters\", HiPINEB 2017; HPCwire, \"Dragonfly+ delivers performance for Canada's fastest "
                "supercomputer\", 9 July 2018; Cineca on the cables of Leonardo, cineca.it",
            .routings = {Routing::minimal, Routing::valiant, Routing::ugal}};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, groups);
    fields.required("leaves_per_group", leaves_per_group, "Leaf switches of one group: l", kPortRange);
    fields.optional("spines_per_group", spines_per_group, "Spine switches of one group; default: l", kPortRange);
    fields.optional("hosts_per_leaf", hosts_per_leaf, "Hosts or NICs on one leaf; default: l", kPortRange);
    fields.optional("global_cables", global_cables, "Of one spine to other groups; default: l", kCableRange);
  }

  const Switching& switches() const override { return groups.switching; }
  std::uint32_t spines() const { return spines_per_group.value_or(leaves_per_group); }
  std::uint32_t hosts() const { return hosts_per_leaf.value_or(leaves_per_group); }
  std::uint32_t cables() const { return global_cables.value_or(leaves_per_group); }

  Wide capacity(NicsPerNode nics) const override {
    return members_on(groups.capacity(leaves_per_group, hosts(), Wide{spines()} * cables()), nics);
  }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const DragonflyPlusShape shape{groups.count(site, Wide{leaves_per_group} * hosts()), leaves_per_group, spines(),
                                   cables(), groups.arrangement};
    return std::make_shared<DirectNetwork>(site.population, std::make_shared<DragonflyPlus>(shape),
                                           groups.spec(site, hosts()));
  }
};

template Topology topology_of<DragonflyPlusFabric>();

}  // namespace athanor
