#pragma once

#include <vector>

#include "models/engines/engine.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

struct Algorithm;

/// The engines that the switches of a network have, and what happens to who gets none of them.
struct EngineDeployment {
  EngineModel engine;
  /// What runs in place of an algorithm whose engines cannot be had; empty: nothing does, and the run fails.
  std::vector<const Algorithm*> fallback;
  /// Where an all-reduce by aggregation_tree runs packet by packet over memory of switches, not by its schedule (see
  /// uses_aggregators()); limits and latencies in it do not count.
  std::optional<AggregatorSettings> slots = {};
  std::vector<VertexId> servers = {};  ///< of parameters, by job, where slots need them
};

}  // namespace athanor
