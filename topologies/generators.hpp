#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "topologies/cluster.hpp"
#include "topologies/generators/assemble.hpp"
#include "topologies/generators/clos_shape.hpp"
#include "topologies/generators/direct/direct_generators.hpp"
#include "topologies/generators/kary_tree.hpp"
#include "topologies/network_structure.hpp"
#include "topologies/node/node_spec.hpp"
#include "topologies/population.hpp"

namespace athanor {

/// Count nodes of one kind. Requires faults(spec) to be empty.
Population nodes(std::uint32_t count, const NodeSpec& spec);
/// Count devices that are on the network themselves: hosts, or GPUs that are positions of a torus.
Population hosts(std::uint32_t count, VertexKind kind = VertexKind::host);

/// The generators; those of direct networks are in direct/direct_generators.hpp. All throw ScenarioError:
/// "does-not-fit" when sizes do not go together, "too-large" before anything is built when the fabric would need more
/// than kMostBytes of memory.
Cluster single_node(const NodeSpec& spec);
/// Those named _network make the part of a cluster that assemble.hpp joins with others.
GeneratedNetwork star_network(const Population& population, const CableSpec& cable, std::optional<std::uint32_t> radix);
GeneratedNetwork fat_tree_network(const Population& population, const ClosSpec& spec);
GeneratedNetwork rail_optimized_network(const Population& population, const ClosSpec& spec);
GeneratedNetwork rail_only_network(const Population& population, const ClosSpec& spec);
GeneratedNetwork dual_plane_network(const Population& population, const ClosSpec& spec, std::uint32_t planes,
                                    bool by_rail);
GeneratedNetwork k_ary_n_tree_network(const Population& population, const KaryTreeSpec& spec);
Cluster star(const Population& population, const CableSpec& cable, std::optional<std::uint32_t> radix = {},
             const RoutingRequest& routing = {});
Cluster fat_tree(const Population& population, const ClosSpec& spec, const RoutingRequest& routing = {});
/// NIC r of every node of a group is on leaf r of that group. `spec.hosts_per_leaf`: nodes in a group.
Cluster rail_optimized(const Population& population, const ClosSpec& spec, const RoutingRequest& routing = {});
/// A network for each rail, of one switch where that takes all nodes; NICs of different rails are not joined.
/// `spec.hosts_per_leaf`: nodes whose NICs r share a leaf; the other counts are those of one rail.
Cluster rail_only(const Population& population, const ClosSpec& spec, const RoutingRequest& routing = {});
/// So many equal networks side by side, each attachment with a port to every one. `by_rail`: NIC r of a group of
/// `spec.hosts_per_leaf` nodes is on leaf r of that group in every plane. Counts are those of one plane.
Cluster dual_plane(const Population& population, const ClosSpec& spec, std::uint32_t planes, bool by_rail,
                   const RoutingRequest& routing = {});
Cluster k_ary_n_tree(const Population& population, const KaryTreeSpec& spec, const RoutingRequest& routing = {});

/// A fabric written out: vertices with unique names, links by the numbers of their ends, both directions each.
struct ExplicitGraph {
  struct Device {
    std::string name;
    VertexKind kind = VertexKind::custom;
  };
  struct Cable {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    Link link;
  };
  std::vector<Device> devices;
  std::vector<Cable> cables;
};
/// Endpoints are its GPUs, or its hosts where it has no GPU, in the order of the list. Throws ScenarioError
/// ("no-endpoint", "unreachable") when there is none or one cannot reach the others.
Cluster explicit_graph(const ExplicitGraph& graph, const RoutingRequest& routing = {});

/// One machine whose ranks are threads that share so many processors, and memory. Requires both to be at least one.
Cluster shared_memory(std::uint32_t ranks, std::uint32_t processors);
/// One machine whose ranks are thread blocks of so many GPUs, and share their memory. Requires both to be at least one.
Cluster shared_gpus(std::uint32_t ranks, std::uint32_t gpus);

}  // namespace athanor
