#pragma once

#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "tools/verify/verdict.hpp"

namespace athanor {

/// Whether a case is a workload of jobs of which figures were measured, or whose log says how long its jobs waited.
bool has_measured_figures(const Case& scenario_case);

/// How far the figures of one scenario's workloads are from measured ones.
struct VerifiedFigures {
  std::vector<double> errors;  ///< simulated / measured - 1, of figures that scenarios name
  bool passed = true;          ///< the limits of the command line, else of the scenario
  bool interrupted = false;
};

/// Simulates its workloads, prints each figure beside the measured one and waits beside those of logs, and collects
/// rows. Cases that are no such workload are left out. Throws ScenarioError where a run has none of a measured figure.
VerifiedFigures verify_figures(const Scenario& scenario, const VerifyOptions& options, const Streams& streams,
                               ResultSink& sink);

}  // namespace athanor
