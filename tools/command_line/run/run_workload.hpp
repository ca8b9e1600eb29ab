#pragma once

#include "models/workload/run_workload.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/run/result_sink.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// A step of a case's training. SimulationErrors name the case.
TrainingRow simulate_training(const Scenario& scenario, const Case& scenario_case, const SimulationOptions& options,
                              const WorkloadOptions& workload);

/// Replays the trace of a case on its cluster. SimulationErrors name the case.
TraceRow simulate_trace(const Scenario& scenario, const Case& scenario_case, const SimulationOptions& options,
                        const WorkloadOptions& workload);

/// Simulates a case of training or of a trace, and prints and collects its row. `timeline` may be null.
void run_workload_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                       Timeline* timeline, const Streams& streams, ResultSink& sink);

}  // namespace athanor
