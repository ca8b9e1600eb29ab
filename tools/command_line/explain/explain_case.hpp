#pragma once

#include "sim/timeline.hpp"
#include "tools/report/explanation.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// Simulates every way to carry out a case's collective at one size, and says why the fastest takes its time.
/// `timeline` draws that one; null: nothing is drawn. Requires a case with one collective, that packets over slots do
/// not carry out. Throws SimulationErrors as simulating does.
Explanation explain(const Scenario& scenario, const Case& scenario_case, Bytes size, SimulationOptions options,
                    Timeline* timeline);

}  // namespace athanor
