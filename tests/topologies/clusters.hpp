#pragma once

#include <optional>
#include <string>

#include "topologies/cluster.hpp"
#include "topologies/generators/clos_shape.hpp"
#include "topologies/network_topology.hpp"
#include "topologies/population.hpp"

/// Clusters as the kinds of fabric build them, without a scenario around them.
namespace athanor {

/// The cluster of a population on the fabric that `keys` describe: R"("kind": "torus", "dimensions": [4, 4])". Throws
/// ScenarioError for keys that are wrong, and what the kind refuses.
/// `between`, `host`: the cables between switches, unless keys say otherwise, and those to hosts or NICs. Keys need no
/// "link" then.
Cluster cluster_on(const std::string& keys, const Population& population, const RoutingRequest& routing,
                   const CableSpec& between, const CableSpec& host);

/// Fat trees of all kinds, by the keys that a specification means.
Cluster star(const Population& population, const CableSpec& cable, std::optional<std::uint32_t> radix = {},
             const RoutingRequest& routing = {});
Cluster fat_tree(const Population& population, const ClosSpec& spec, const RoutingRequest& routing = {});
/// `spec.hosts_per_leaf`: nodes in a group.
Cluster rail_optimized(const Population& population, const ClosSpec& spec, const RoutingRequest& routing = {});
Cluster rail_only(const Population& population, const ClosSpec& spec, const RoutingRequest& routing = {});
Cluster dual_plane(const Population& population, const ClosSpec& spec, std::uint32_t planes, bool by_rail,
                   const RoutingRequest& routing = {});

}  // namespace athanor
