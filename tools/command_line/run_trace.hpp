#pragma once

#include "tools/command_line/command.hpp"
#include "tools/command_line/result_sink.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// Replays the trace of a case on its cluster. SimulationErrors name the case. `timeline` may be null.
TraceRow simulate_trace(const Scenario& scenario, const Case& scenario_case, const SimulationOptions& options,
                        Timeline* timeline);

/// Replays the trace of a case, and prints and collects its row.
void run_trace_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                    Timeline* timeline, const Streams& streams, ResultSink& sink);

}  // namespace athanor
