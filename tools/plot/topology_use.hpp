#pragma once

#include <optional>

#include "models/execution/choice.hpp"
#include "models/experiments/collective.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// The fabric as graph_to_json() has it, with "use": {"collective", "bytes", "ranks", "algorithm": the choice's,
/// "time_us", "busiest": the name of a link, "shares": of the time in which each link was busy, by its number}. Nothing
/// where no link carried anything. `choice`: of the setup's request for `size` on the cluster. Throws SimulationErrors
/// as run_collective().
std::optional<JsonValue> topology_use_json(const Cluster& cluster, const CollectiveSetup& setup, Bytes size,
                                           const Choice& choice, SimulationOptions options);

}  // namespace athanor
