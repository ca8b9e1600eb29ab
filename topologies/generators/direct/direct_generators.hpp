#pragma once

#include <cstdint>
#include <vector>

#include "topologies/cluster.hpp"
#include "topologies/generators/assemble.hpp"
#include "topologies/generators/direct/direct_network.hpp"
#include "topologies/generators/direct/dragonfly.hpp"
#include "topologies/generators/direct/dragonfly_plus.hpp"
#include "topologies/generators/direct/grid.hpp"
#include "topologies/generators/direct/hyperx.hpp"
#include "topologies/network_structure.hpp"
#include "topologies/population.hpp"

namespace athanor {

/// A grid that closes on itself in every dimension. A bare device is a position and its own router. A node is one
/// position too: its NICs are on a router vertex of the node, and share its ports to the neighbours.
struct TorusSpec {
  std::vector<std::uint32_t> dimensions;
  CableSpec cable;                                   ///< between neighbours
  CableSpec nic_cable;                               ///< NIC to router; unused with bare devices
  std::vector<std::vector<std::uint32_t>> twists{};  ///< as in GridShape
};

/// A grid with ends; members as on a torus.
struct MeshSpec {
  std::vector<std::uint32_t> dimensions;
  CableSpec cable;
  CableSpec nic_cable;
  std::vector<bool> wraps{};  ///< by dimension: closes on itself all the same. Empty: none does
};

/// Networks of routers or switches that are joined with each other, by any of which endpoints are reached. All throw
/// ScenarioError as the generators of generators.hpp do; what fits is said beside each shape and in check_direct.
/// Those named _network make the part of a cluster that assemble.hpp joins with others.
GeneratedNetwork torus_network(const Population& population, const TorusSpec& spec);
GeneratedNetwork mesh_network(const Population& population, const MeshSpec& spec);
GeneratedNetwork full_mesh_network(const Population& population, std::uint32_t routers, std::uint32_t cables,
                                   const DirectSpec& spec);
GeneratedNetwork hyperx_network(const Population& population, const HyperXShape& shape, const DirectSpec& spec);
GeneratedNetwork dragonfly_network(const Population& population, const DragonflyShape& shape, const DirectSpec& spec);
GeneratedNetwork dragonfly_plus_network(const Population& population, const DragonflyPlusShape& shape,
                                        const DirectSpec& spec);
GeneratedNetwork slim_fly_network(const Population& population, std::uint32_t q, const DirectSpec& spec);

Cluster torus(const Population& population, const TorusSpec& spec, const RoutingRequest& routing = {});
Cluster mesh(const Population& population, const MeshSpec& spec, const RoutingRequest& routing = {});
/// Members joined every two by so many cables, or so many switches that each have `spec.hosts_per_router` hosts or
/// NICs. `routers`: how many of either; without hosts_per_router as many as there are members.
Cluster full_mesh(const Population& population, std::uint32_t routers, std::uint32_t cables, const DirectSpec& spec,
                  const RoutingRequest& routing = {});
Cluster hyperx(const Population& population, const HyperXShape& shape, const DirectSpec& spec,
               const RoutingRequest& routing = {});
Cluster dragonfly(const Population& population, const DragonflyShape& shape, const DirectSpec& spec,
                  const RoutingRequest& routing = {});
Cluster dragonfly_plus(const Population& population, const DragonflyPlusShape& shape, const DirectSpec& spec,
                       const RoutingRequest& routing = {});
Cluster slim_fly(const Population& population, std::uint32_t q, const DirectSpec& spec,
                 const RoutingRequest& routing = {});

}  // namespace athanor
