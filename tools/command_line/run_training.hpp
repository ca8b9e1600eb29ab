#pragma once

#include "tools/command_line/command.hpp"
#include "tools/command_line/result_sink.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// A step of a case's training. SimulationErrors name the case. `timeline` may be null.
TrainingRow simulate_training(const Scenario& scenario, const Case& scenario_case, const SimulationOptions& options,
                              Timeline* timeline);

/// Simulates a case of training, and prints and collects its row.
void run_training_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                       Timeline* timeline, const Streams& streams, ResultSink& sink);

}  // namespace athanor
