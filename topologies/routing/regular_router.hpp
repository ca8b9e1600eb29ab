#pragma once

#include <memory>

#include "topologies/network_structure.hpp"
#include "topologies/population.hpp"
#include "topologies/router.hpp"
#include "topologies/routing/shortest_path_router.hpp"

namespace athanor {

/// Routes of a fabric made by a generator, computed from coordinates: inside a node from the table of its template,
/// between nodes through the nearest NIC (or the requested rail) at both ends and the network's structure between.
/// A request that begins or ends at a switch of the network takes a shortest path of the whole graph.
class RegularRouter : public Router {
 public:
  /// Borrows the fabric. `network` is null for a single node.
  RegularRouter(const Fabric& fabric, const Population& population, std::shared_ptr<const NetworkStructure> network,
                const RoutingChoice& choice);
  void route(const RouteRequest& request, std::vector<LinkId>& path) const override;

 private:
  void route_inside(const RouteRequest& request, VertexId from, VertexId to, std::vector<LinkId>& path) const;
  std::uint32_t attachment_of(const RouteRequest& request, VertexId end) const;

  const Fabric& fabric_;
  Population population_;
  std::shared_ptr<const NetworkStructure> network_;
  RoutingChoice choice_;
  ShortestPathRouter general_;
};

}  // namespace athanor
