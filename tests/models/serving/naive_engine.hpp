#pragma once

#include <vector>

#include "models/serving/replica_engine.hpp"

namespace athanor::testing {

/// The same rules once more, one iteration after the other and nothing computed at once: what ReplicaEngine must agree
/// with.
std::vector<ServedOutcome> serve_naively(const EngineRules& rules, const IterationLaw& law,
                                         const ServedRequests& requests);

}  // namespace athanor::testing
