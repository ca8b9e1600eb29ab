#pragma once

#include "tools/command_line/command.hpp"
#include "tools/command_line/run/result_sink.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// Simulates a case of any kind at each of its sizes, and prints and collects each row as soon as it is known. Ends
/// early, returning false, when the user interrupts. SimulationErrors name the case. `timeline` may be null.
bool run_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation, Timeline* timeline,
              const Streams& streams, ResultSink& sink);

}  // namespace athanor
