#pragma once

#include <optional>
#include <vector>

#include "models/engines/engine_limits.hpp"
#include "models/engines/trees/switch_graph.hpp"
#include "sim/error.hpp"

namespace athanor {

/// Which switches have an engine, by number: those of the limits' place whose names match one of its patterns.
std::vector<bool> engine_places(const SwitchGraph& graph, const EngineLimits& limits);

/// What is wrong with the patterns: the first one that matches no switch of the place ("no-such-switch"), with the
/// nearest name as its hint. The place in the user's input is for the caller to add.
std::optional<Problem> wrong_places(const SwitchGraph& graph, const EngineLimits& limits);

}  // namespace athanor
