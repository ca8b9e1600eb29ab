#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/catalog.hpp"
#include "models/in_network/aggregation_manager.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

/// Where the agents of an algorithm that are no ranks sit.
struct EngineSites {
  std::vector<VertexId> vertices;               ///< by engine; of an NVSwitch the one that all of them sit on
  std::shared_ptr<const AggregationTree> tree;  ///< of switches that aggregate; else null
  std::string refusal;                          ///< why there is no place for them, in words for the user; "": there is
};

/// For ranks on the first endpoints of a cluster. `aggregation`: what the network's switches aggregate; absent:
/// nothing. NVSwitches have to be next to all ranks, by NVLinks that work.
EngineSites find_engine_sites(const Cluster& cluster, std::uint32_t ranks, Engine engine,
                              const std::optional<EngineLimits>& aggregation);

}  // namespace athanor
