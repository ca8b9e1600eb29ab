#pragma once

#include <cstdint>
#include <vector>

#include "topologies/generators/direct/global_cables.hpp"
#include "topologies/generators/direct/router_graph.hpp"

namespace athanor {

struct DragonflyShape {
  std::uint32_t groups = 1;             ///< g
  std::uint32_t routers_per_group = 1;  ///< a
  std::uint32_t global_per_router = 1;  ///< h: ports for cables to other groups
  Arrangement arrangement = Arrangement::palm_tree;
};

/// Throws ScenarioError("does-not-fit") where there are more groups than a h + 1, "too-large" for too many routers.
void check_dragonfly(const DragonflyShape& shape);

/// Dragonfly (Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA'08): the a routers
/// of a group are joined every two by a cable, every two of the g groups by K = floor(a h / (g - 1)) cables, and each
/// router has p endpoints. Balanced: a = 2 p = 2 h.
///   endpoints  a p g, at most a p (a h + 1)
///   switches   a g, of radix p + a - 1 + h
///   cables     g a (a - 1) / 2 within groups, K g (g - 1) / 2 between them
///   diameter   3 between routers (at most one cable between groups), 5 between endpoints
///   halves     of the groups: K floor(g / 2) ceil(g / 2) cables
///
/// Routing `minimal`: the shortest of the ways with no more than one cable between groups; of equal ones, one is drawn.
/// (A way over a third group may be as short or shorter, and is not taken, as Kim et al. have it.) `valiant`: minimal
/// to a third group drawn by the flow and on from there, where the ends are in different groups and there is a third.
///
/// Ports: the other routers of the group in ascending order, then the cables to other groups: slot r h + k of the
/// group is port k of these on router r.
class Dragonfly : public RouterGraph {
 public:
  /// Requires a shape that check_dragonfly accepts.
  explicit Dragonfly(const DragonflyShape& shape);

  std::uint32_t routers() const override { return shape_.groups * shape_.routers_per_group; }
  std::uint32_t ports(std::uint32_t router) const override;
  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override;
  bool is_global(std::uint32_t /*router*/, std::uint32_t port) const override { return port >= local_ports(); }
  std::vector<Routing> routings() const override { return {Routing::minimal, Routing::valiant}; }
  void walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, Trail& trail) const override;
  std::vector<RouterSet> sets() const override;
  bool alike() const override { return false; }

  const GlobalCables& global() const { return global_; }

 private:
  std::uint32_t local_ports() const { return shape_.routers_per_group - 1; }
  std::uint32_t group(std::uint32_t router) const { return router / shape_.routers_per_group; }
  std::uint32_t router_of(std::uint32_t group, std::uint32_t slot) const {
    return group * shape_.routers_per_group + slot / shape_.global_per_router;
  }
  void within(std::uint32_t from, std::uint32_t to, Trail& trail) const;
  /// By one cable to another group; returns the router where it ends.
  std::uint32_t across(std::uint32_t from, std::uint32_t cable, std::uint32_t group, Trail& trail) const;
  /// Of the cables to the group of `to` one of those with the fewest local hops at both ends.
  std::uint32_t nearest_cable(FlowDraws& draws, std::uint32_t from, std::uint32_t to) const;

  DragonflyShape shape_;
  GlobalCables global_;
};

}  // namespace athanor
