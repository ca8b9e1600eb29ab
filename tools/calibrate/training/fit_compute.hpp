#pragma once

#include <string>
#include <vector>

#include "tools/calibrate/search.hpp"
#include "tools/calibrate/training/measured_steps.hpp"

namespace athanor {

/// The figures of a compute profile that steps of this precision can tell, with the bounds of plausible GPUs.
std::vector<FittedCost<ComputeProfile>> compute_figures(Precision precision);

struct ComputeFitSettings {
  std::vector<std::string> free;  ///< figures that may change; empty: all
  int rounds = 10;                ///< all steps are simulated so many times at most, and once before
  int evaluations = 1000;         ///< of estimates, between two of these
  double pull = 0.02;             ///< towards the start, of what the steps do not tell
};

struct ComputeFit {
  ComputeProfile profile;
  std::vector<std::string> free;
  double loss = 0;  ///< of the steps, as calibrations of collectives count it: robust, on log(simulated / measured)
};

/// The compute profile with which steps take as long as they did, beginning with `start`: searched for with estimates
/// from simulated steps (estimated_seconds), which are then simulated with what was found, until that finds no better.
/// Sets `simulated` of the steps. Requires at least one step, all of one precision. Throws UsageError where a figure is
/// to be found that none of the steps tells.
ComputeFit fit_compute(MeasuredSteps& steps, const ComputeProfile& start, const ComputeFitSettings& settings);

/// Every other step by a fit on the rest, and the other way round: steps as fit_compute() left them, and the profile
/// that it found, from which estimates are made. Each of these fits begins with `start`.
MeasuredSteps hold_out_rows(const MeasuredSteps& steps, const ComputeProfile& with, const ComputeProfile& start,
                            const ComputeFitSettings& settings);
/// Each model by a fit on the others; empty where there is one.
MeasuredSteps hold_out_models(const MeasuredSteps& steps, const ComputeProfile& with, const ComputeProfile& start,
                              const ComputeFitSettings& settings);

/// Of each model and table that was measured on several numbers of GPUs: the larger systems, scaled by the error of the
/// smallest one.
MeasuredSteps anchored_series(const MeasuredSteps& steps);

}  // namespace athanor
