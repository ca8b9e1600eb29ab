#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "models/execution/choice.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// The fabric as graph_to_json() has it, with "use": {"collective", "bytes", "ranks", "algorithm": the choice's,
/// "time_us", "busiest": the name of a link, "shares": of the time in which each link was busy, by its number}. Nothing
/// where no link carried anything. `choice`: of the case's request for `size`. Throws SimulationErrors as
/// run_collective().
std::optional<nlohmann::ordered_json> topology_use_json(const Case& scenario_case, Bytes size, const Choice& choice,
                                                        SimulationOptions options);

}  // namespace athanor
