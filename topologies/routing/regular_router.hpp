#pragma once

#include <memory>
#include <optional>

#include "topologies/fabric/router.hpp"
#include "topologies/network_topology.hpp"
#include "topologies/population.hpp"
#include "topologies/routing/shortest_path_router.hpp"

namespace athanor {

/// Routes of a fabric made by a generator, computed from coordinates: inside a node from the table of its template, by
/// host memory where the node says so (NodeTemplate::staging); between nodes through the nearest NIC at both
/// ends and the network's structure between. A request that begins or ends at a switch of the network takes a shortest
/// path of the whole graph.
///
/// NICs are those that the request names; else each end's own (NodeTemplate::nearest_nic), or, with
/// `RoutingChoice::pxn` and where rails are apart, at both ends the one on whose rail data arrives. With
/// `RoutingChoice::relay` a GPU sends to a NIC that others are nearer to over NVLink and one of these (as NCCL's PXN).
///
/// Where links are down:
///  - inside a node a shortest path of what is left of the node is taken;
///  - a NIC whose cable is down is replaced by the next one of its node, where there is one;
///  - a flow that is hashed is hashed again until its path is whole, and tables of d-mod-k have another path for the
///    destinations that lost theirs, dealt out to all others (as OpenSM reroutes); all others keep their paths. Of
///    parallel cables another one is taken;
///  - where that finds nothing, a shortest path of the whole graph is taken; dimension order, which has no choice, has
///    lost the path and throws SimulationError("no-route").
class RegularRouter : public Router {
 public:
  /// Borrows the fabric. `network` is null for a single node.
  RegularRouter(const Fabric& fabric, const Population& population, std::shared_ptr<const NetworkTopology> network,
                const RoutingChoice& choice);
  void route(const RouteRequest& request, std::vector<LinkId>& path) const override;
  std::uint32_t paths() const override { return choice_.routing == Routing::ugal ? kAdaptivePaths : 1; }
  bool fixed_inside_nodes() const override { return fabric_.links_down() == 0; }
  std::unique_ptr<Router> with_seed(std::uint64_t seed) const override;

 private:
  /// The NICs, counted within their nodes, by which a route leaves and arrives.
  struct Rails {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
  };

  bool go_inside(VertexId from, VertexId to, std::vector<LinkId>& path) const;
  bool go_straight(VertexId from, VertexId to, std::vector<LinkId>& path) const;
  bool go_round_inside(VertexId from, VertexId to, std::vector<LinkId>& path) const;
  bool leave(const RouteRequest& request, std::uint32_t rail, std::vector<LinkId>& path) const;
  bool cross(std::uint32_t source, std::uint32_t target, const RouteRequest& request, std::vector<LinkId>& path) const;
  bool go_between(const RouteRequest& request, std::vector<LinkId>& path) const;
  bool whole(const std::vector<LinkId>& path, std::size_t begin) const;
  void take_parallel_cables(std::vector<LinkId>& path, std::size_t begin) const;

  std::uint32_t wanted_rail(VertexId end, std::uint32_t channel) const;
  std::optional<std::uint32_t> named_rail(VertexId end, std::uint32_t nic) const;
  Rails rails(const RouteRequest& request) const;
  Rails working_rails(const RouteRequest& request, Rails wanted) const;
  bool works(VertexId end, std::uint32_t rail) const;
  bool is_nic(VertexId end) const;
  VertexId nic_beside(VertexId end, std::uint32_t rail) const;
  std::optional<VertexId> relay(const RouteRequest& request, std::uint32_t rail) const;
  [[noreturn]] void throw_lost(const RouteRequest& request) const;

  const Fabric& fabric_;
  Population population_;
  std::shared_ptr<const NetworkTopology> network_;
  RoutingChoice choice_;
  ShortestPathRouter general_;
  std::vector<std::vector<std::vector<std::uint32_t>>> gpus_of_nic_;  ///< that are beside it; by kind of node
};

}  // namespace athanor
