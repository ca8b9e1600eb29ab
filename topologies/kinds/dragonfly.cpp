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

struct DragonflyShape {
  std::uint32_t groups = 1;             ///< g
  std::uint32_t routers_per_group = 1;  ///< a
  std::uint32_t global_per_router = 1;  ///< h: ports for cables to other groups
  Arrangement arrangement = Arrangement::palm_tree;
};

/// The shape, where there is such a dragonfly.
const DragonflyShape& checked(const DragonflyShape& shape) {
  check_box("a dragonfly", {shape.groups, shape.routers_per_group});
  check_groups(shape.groups, shape.routers_per_group, "router", shape.global_per_router);
  return shape;
}

/// Dragonfly (Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA'08): the a routers
/// of a group are joined every two by a cable, every two of the g groups by K = floor(a h / (g - 1)) cables, and each
/// router has p endpoints. Balanced: a = 2 p = 2 h.
///   endpoints  a p g, at most a p (a h + 1)
///   switches   a g, of radix p + a - 1 + h
///   cables     g a (a - 1) / 2 within groups, K g (g - 1) / 2 between them
///   diameter   3 between routers (at most one cable between groups), 5 between endpoints
///   halves     of the groups: K floor(g / 2) ceil(g / 2) cables
///
/// Routing `minimal`: the shortest of the paths with no more than one cable between groups; of equal ones, one is
/// drawn. (A path over a third group may be as short or shorter, and is not taken, as Kim et al. have it.) `valiant`:
/// minimal to a third group drawn by the flow and on from there, where the ends are in different groups and there is a
/// third.
///
/// Ports: the other routers of the group in ascending order, then the cables to other groups: slot r h + k of the
/// group is port k of these on router r.
class Dragonfly : public RouterGraph {
 public:
  /// Throws ScenarioError("does-not-fit") where there are more groups than a h + 1, "too-large" for too many routers.
  explicit Dragonfly(const DragonflyShape& shape)
      : shape_(checked(shape)),
        global_(shape.groups, shape.routers_per_group * shape.global_per_router, shape.arrangement) {}

  std::string title() const override {
    return fmt::format("dragonfly of {} groups of {} routers", shape_.groups, shape_.routers_per_group);
  }

  PictureHint picture() const override { return {"groups", {shape_.groups, shape_.routers_per_group}}; }

  std::uint32_t routers() const override { return shape_.groups * shape_.routers_per_group; }
  std::uint32_t ports(std::uint32_t router) const override {
    const std::uint32_t first_slot = router % shape_.routers_per_group * shape_.global_per_router;
    return local_ports() + global_.used_of(first_slot, shape_.global_per_router);
  }

  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override {
    const std::uint32_t a = shape_.routers_per_group;
    if (port < local_ports()) { return router - router % a + port + (port >= router % a ? 1 : 0); }
    const std::uint32_t slot = router % a * shape_.global_per_router + port - local_ports();
    return router_of(global_.target(group(router), slot), global_.far_slot(group(router), slot));
  }

  bool is_global(std::uint32_t /*router*/, std::uint32_t port) const override { return port >= local_ports(); }
  std::vector<Routing> routings() const override { return {Routing::minimal, Routing::valiant}; }
  void walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const override {
    std::uint32_t router = from;
    if (routing == Routing::valiant && group(from) != group(to) && shape_.groups > 2) {
      const std::uint32_t third = global_.third(draws, group(from), group(to));
      router = across(router, draws.below(global_.per_pair()), third, path);
    }
    if (group(router) != group(to)) { router = across(router, nearest_cable(draws, router, to), group(to), path); }
    within(router, to, path);
  }

  std::vector<RouterSet> cut_sets() const override {
    const std::uint32_t a = shape_.routers_per_group;
    std::vector<RouterSet> found;
    if (shape_.groups == 1) {
      if (a > 1) { found.push_back({"half of the routers", {{0, a / 2}}, true}); }
      return found;
    }
    found.push_back({"group 0", {{0, a}}, false});
    found.push_back({"half of the groups", {{0, shape_.groups / 2 * a}}, true});
    return found;
  }

 private:
  std::uint32_t local_ports() const { return shape_.routers_per_group - 1; }
  std::uint32_t group(std::uint32_t router) const { return router / shape_.routers_per_group; }
  std::uint32_t router_of(std::uint32_t group, std::uint32_t slot) const {
    return group * shape_.routers_per_group + slot / shape_.global_per_router;
  }

  void within(std::uint32_t from, std::uint32_t to, PathBuilder& path) const {
    if (from == to) { return; }
    path.take(from, to % shape_.routers_per_group - (to > from ? 1 : 0));
  }

  /// By one cable to another group; returns the router where it ends.
  std::uint32_t across(std::uint32_t from, std::uint32_t cable, std::uint32_t other, PathBuilder& path) const {
    const std::uint32_t slot = global_.slot(group(from), other, cable);
    const std::uint32_t gate = router_of(group(from), slot);
    within(from, gate, path);
    path.take(gate, local_ports() + slot % shape_.global_per_router);
    return router_of(other, global_.far_slot(group(from), slot));
  }

  /// Of the cables to the group of `to` one of those with the fewest local hops at both ends.
  std::uint32_t nearest_cable(FlowDraws& draws, std::uint32_t from, std::uint32_t to) const {
    const auto hops = [&](std::uint32_t cable) {
      const std::uint32_t slot = global_.slot(group(from), group(to), cable);
      return (router_of(group(from), slot) == from ? 0 : 1) +
             (router_of(group(to), global_.far_slot(group(from), slot)) == to ? 0 : 1);
    };
    int least = 3;
    std::uint32_t equal = 0;
    for (std::uint32_t cable = 0; cable < global_.per_pair(); ++cable) {
      equal = hops(cable) < least ? 1 : equal + (hops(cable) == least ? 1 : 0);
      least = std::min(least, hops(cable));
    }
    std::uint32_t drawn = draws.below(equal);
    std::uint32_t cable = 0;
    while (hops(cable) != least || drawn-- > 0) { ++cable; }
    return cable;
  }

  DragonflyShape shape_;
  GlobalCables global_;
};

}  // namespace

struct DragonflyFabric : FabricKind {
  GroupSettings groups;
  std::uint32_t hosts_per_router = 1;
  std::optional<std::uint32_t> routers_per_group;  ///< absent: 2 p
  std::optional<std::uint32_t> global_cables;      ///< of one router; absent: p

  static Topology words() {
    return {.name = "dragonfly",
            .title = "Dragonfly",
            .summary = "Groups of routers, joined every two within a group and group by group",
            .explanation =
                "Groups of routers that are joined every two; every two groups are joined by as many cables as "
                "the routers' global ports allow. One long cable on a path at most. Cray XC, and "
                "HPE Slingshot as in Aurora.",
            .symbols = "g groups of a routers, p hosts and h global cables per router; K = floor(a h / (g - 1))",
            .endpoints = "a p g, g <= a h + 1",
            .switches = "a g, of radix p + a - 1 + h",
            .cables = "g a (a - 1) / 2 within groups, K g (g - 1) / 2 between them",
            .diameter = "5",
            .bisection = "K floor(g/2) ceil(g/2), between halves of the groups",
            .source =
                "Kim, Dally, Scott, Abts, \"Technology-driven, highly-scalable dragonfly topology\", ISCA'08; "
                "arrangements: Hastings et al., \"Comparing global link arrangements for dragonfly networks\", "
                "CLUSTER 2015; Argonne Leadership Computing Facility, \"Aurora: interconnect\", alcf.anl.gov; Cray XC: "
                "Faanes et al., \"Cray Cascade\", SC'12",
            .routings = {Routing::minimal, Routing::valiant, Routing::ugal}};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, groups);
    fields.required("hosts_per_router", hosts_per_router, "Hosts or NICs on one router: p", kPortRange);
    fields.optional("routers_per_group", routers_per_group, "a; default: 2 p", kPortRange);
    fields.optional("global_cables", global_cables, "Of one router to other groups: h; default: p", kCableRange);
  }

  const Switching& switches() const override { return groups.switching; }
  std::uint32_t routers() const { return routers_per_group.value_or(2 * hosts_per_router); }
  std::uint32_t cables() const { return global_cables.value_or(hosts_per_router); }

  Wide capacity(NicsPerNode nics) const override {
    return members_on(groups.capacity(routers(), hosts_per_router, Wide{routers()} * cables()), nics);
  }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const DragonflyShape shape{groups.count(site, Wide{routers()} * hosts_per_router), routers(), cables(),
                               groups.arrangement};
    return std::make_shared<DirectNetwork>(site.population, std::make_shared<Dragonfly>(shape),
                                           groups.spec(site, hosts_per_router));
  }
};

template Topology topology_of<DragonflyFabric>();

}  // namespace athanor
