#pragma once

#include <nlohmann/json_fwd.hpp>

#include "models/execution/simulate.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// The fabric as graph_to_json() has it, with "use": {"collective", "bytes", "ranks", "algorithm": the fastest of the
/// case's, "time_us", "busiest": the name of a link, "shares": of the time in which each link was busy, by its number}.
/// Requires a case of one collective. Throws UsageError where it uses no link, SimulationErrors as run_collective().
nlohmann::ordered_json topology_use_json(const Case& scenario_case, Bytes size, SimulationOptions options);

}  // namespace athanor
