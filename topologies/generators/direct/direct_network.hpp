#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "topologies/generators/direct/router_graph.hpp"
#include "topologies/network_topology.hpp"

namespace athanor {

/// What a direct network is built with, beside how its routers are joined.
struct DirectSpec {
  /// Attachments on each router that takes any, which are switches of their own then. Absent: the members are those
  /// routers. A bare device forwards itself; a node has a router vertex that its NICs are on.
  std::optional<std::uint32_t> hosts_per_router;
  std::optional<std::uint32_t> radix;  ///< ports of a switch; absent: as many as needed
  CableSpec host_cable;                ///< attachment to router; unused where bare devices are the routers
  CableSpec cable;                     ///< router to router
  CableSpec global_cable;              ///< between groups, where a network has groups
};

/// A population on the routers of a direct network. Attachments fill router after router. Ports of a router: those to
/// other routers as the graph numbers them, then those to its attachments in ascending order.
class DirectNetwork : public NetworkTopology {
 public:
  /// Requires nodes of one kind where members are routers. Throws ScenarioError("does-not-fit") where the population
  /// has more attachments than the routers take (or other than one member for each router, where members are routers),
  /// or a switch more ports than its radix.
  DirectNetwork(const Population& population, std::shared_ptr<const RouterGraph> graph, const DirectSpec& spec);

  std::string title() const override { return graph_->title(); }
  PictureHint picture() const override { return graph_->picture(); }
  /// Those of a grid of which every position is one endpoint.
  std::array<std::uint32_t, 6> sides() const override;
  std::uint64_t vertices() const override { return graph_->routers() - routers_.bare; }
  std::uint64_t links() const override;
  void add_vertices(FabricBuilder& builder) override;
  void add_links(FabricBuilder& builder) const override;
  /// The routings of the graph, and ugal where it knows detours.
  std::vector<Routing> routings() const override;
  void route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
             std::uint64_t flow, std::vector<LinkId>& path) const override;
  std::vector<CutSet> cut_sets() const override;
  std::vector<TierSummary> tiers() const override { return {}; }
  std::vector<std::string> warnings() const override;
  bool alike_from_every_node() const override;

  bool members_are_routers() const override { return !spec_.hosts_per_router; }

 private:
  /// Whether members are joined to routers by links, and are none themselves.
  bool attached() const { return !members_are_routers() || population_.node; }
  std::uint32_t hosts_each() const { return spec_.hosts_per_router.value_or(population_.attachments_each()); }
  /// By which routing of the graph: ugal chooses among the paths of two.
  Routing routing_of(const RoutingChoice& choice) const;
  /// Members that have all their attachments on the routers [first, first + count).
  VertexRange members_on(VertexRange routers) const;
  /// The routers with the members that have all their attachments on them.
  CutSet with_members(const RouterSet& set) const;
  bool straddles() const;

  Population population_;
  std::shared_ptr<const RouterGraph> graph_;
  DirectSpec spec_;
  RouterVertices routers_;
};

}  // namespace athanor
