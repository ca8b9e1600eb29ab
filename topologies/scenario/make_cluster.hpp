#pragma once

#include <optional>
#include <string>

#include "topologies/generators.hpp"
#include "topologies/scenario/cluster_config.hpp"
#include "topologies/scenario/presets.hpp"

namespace athanor {

/// Where to report a routing that the fabric cannot do, and a fabric that is not there.
struct RoutingPlaces {
  SourceLocation routing;
  SourceLocation fabric;
};

/// The cluster that a scenario describes. All that is wrong with it is added to `problems`, with its place; nothing
/// is returned then. Of several fabrics ranks use the one that `routing.fabric` names, else the one that has the most
/// bandwidth out of a node; which of equal ones has to be said.
std::optional<Cluster> make_cluster(const ClusterConfig& config, const Presets& presets, const RoutingRequest& routing,
                                    const RoutingPlaces& places, Problems& problems);

/// The inside of a node: a preset with the changes made to it. None, and problems, when something is wrong.
std::optional<NodeSpec> make_node(const NodeConfig& config, const Presets& presets, Problems& problems);

/// The GPU that the ranks of a node are, which may be that of its preset; none where nothing says it, or ranks are
/// processes.
std::optional<GpuConfig> gpu_of(const NodeConfig& config, const Presets& presets);

/// Names looked up: none, and problems, where two vertices have one name, or a link names none or joins one to itself.
std::optional<ExplicitGraph> make_explicit_graph(const GraphConfig& config, Problems& problems);
/// The same for the inside of a node, GPUs put first and NICs last, each kind in the order of the text.
std::optional<NodeGraph> make_node_graph(const GraphConfig& config, Problems& problems);

}  // namespace athanor
