#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "topologies/generators/assemble.hpp"
#include "topologies/scenario/cluster_config.hpp"
#include "topologies/scenario/presets.hpp"

namespace athanor {

/// What a cluster is made of, whatever joins it.
struct Members {
  std::vector<std::shared_ptr<const NodeTemplate>> nodes;  ///< each kind; empty: bare devices
  VertexKind positions = VertexKind::host;                 ///< what bare devices are
};

/// The network that `fabric` describes, of `text`, under the nodes' NICs that are on it. Nothing, and problems, when
/// something is wrong; throws ScenarioError for what generators refuse.
std::optional<AttachedNetwork> make_network(const FabricSettings& fabric, const ClusterConfig& config,
                                            const Members& members, const Presets& presets, Problems& problems);

}  // namespace athanor
