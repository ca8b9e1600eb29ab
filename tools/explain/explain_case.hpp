#pragma once

#include "models/experiments/scenario/scenario.hpp"
#include "tools/explain/explanation.hpp"

namespace athanor {

/// Simulates every way to carry out a case's collective at one size, and says why the fastest takes its time. The
/// options' timeline draws that one. Requires a case with one collective, that packets over slots do not carry out.
/// Throws SimulationErrors as simulating does.
Explanation explain(const Scenario& scenario, const Case& scenario_case, Bytes size, const RunOptions& options);

}  // namespace athanor
