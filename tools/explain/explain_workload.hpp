#pragma once

#include "models/experiments/scenario/scenario.hpp"
#include "tools/explain/explain_options.hpp"
#include "tools/explain/workload_explanation.hpp"

namespace athanor {

class Timeline;

/// Simulates a case of training or of a trace, says what its critical path consists of, and simulates what might
/// shorten it, one change after the other. `scenario`: as it was read with these options. `timeline` may be null.
/// Throws SimulationErrors as simulating does.
WorkloadExplanation explain_workload(const ExplainOptions& options, const Streams& streams, const Scenario& scenario,
                                     const Case& scenario_case, Timeline* timeline);

}  // namespace athanor
