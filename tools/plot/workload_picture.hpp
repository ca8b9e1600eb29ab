#pragma once

#include "models/experiments/experiment.hpp"
#include "models/experiments/scenario/scenario.hpp"

namespace athanor {

class JsonValue;

/// Simulates a case that is a workload, with its first seed, for plot_jobs.py; null: it is none. Throws
/// SimulationError, Interrupted.
JsonValue workload_picture(const Case& scenario_case, const RunOptions& options);

}  // namespace athanor
