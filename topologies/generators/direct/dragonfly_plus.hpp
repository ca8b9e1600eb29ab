#pragma once

#include <cstdint>
#include <vector>

#include "topologies/generators/direct/global_cables.hpp"
#include "topologies/generators/direct/router_graph.hpp"

namespace athanor {

struct DragonflyPlusShape {
  std::uint32_t groups = 1;            ///< g
  std::uint32_t leaves_per_group = 1;  ///< l
  std::uint32_t spines_per_group = 1;  ///< s
  std::uint32_t global_per_spine = 1;  ///< h: ports for cables to other groups
  Arrangement arrangement = Arrangement::palm_tree;
};

/// Throws ScenarioError("does-not-fit") where there are more groups than s h + 1, "too-large" for too many routers.
void check_dragonfly_plus(const DragonflyPlusShape& shape);

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
/// shortest ways. `valiant`: to a third group drawn by the flow and on from there, by way of a leaf of it where cables
/// end at different spines.
///
/// Routers: the leaves of all groups, then the spines of all groups. Ports of a leaf: the spines of its group. Of a
/// spine: the leaves of its group, then the cables to other groups, slot s h + k of the group on spine s.
class DragonflyPlus : public RouterGraph {
 public:
  /// Requires a shape that check_dragonfly_plus accepts.
  explicit DragonflyPlus(const DragonflyPlusShape& shape);

  std::uint32_t routers() const override { return leaves() + shape_.groups * shape_.spines_per_group; }
  std::uint32_t hosting() const override { return leaves(); }
  VertexKind kind(std::uint32_t router) const override {
    return router < leaves() ? VertexKind::leaf : VertexKind::spine;
  }
  std::uint32_t ports(std::uint32_t router) const override;
  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override;
  bool is_global(std::uint32_t router, std::uint32_t port) const override {
    return router >= leaves() && port >= shape_.leaves_per_group;
  }
  std::vector<Routing> routings() const override { return {Routing::minimal, Routing::valiant}; }
  void walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, Trail& trail) const override;
  std::vector<RouterSet> sets() const override;
  bool alike() const override { return false; }

  const GlobalCables& global() const { return global_; }

 private:
  std::uint32_t leaves() const { return shape_.groups * shape_.leaves_per_group; }
  std::uint32_t spine(std::uint32_t group, std::uint32_t slot) const {
    return leaves() + group * shape_.spines_per_group + slot / shape_.global_per_spine;
  }
  void up(std::uint32_t leaf, std::uint32_t spine, Trail& trail) const;
  void down(std::uint32_t spine, std::uint32_t leaf, Trail& trail) const;
  void across(std::uint32_t spine, std::uint32_t slot, Trail& trail) const;
  void by_third_group(FlowDraws& draws, std::uint32_t from, std::uint32_t to, Trail& trail) const;

  DragonflyPlusShape shape_;
  GlobalCables global_;
};

}  // namespace athanor
