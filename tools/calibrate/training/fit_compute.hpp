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
  int evaluations = 90;
  double pull = 0.02;  ///< towards the start, of what the steps do not tell
};

struct ComputeFit {
  ComputeProfile profile;
  std::vector<std::string> free;
  double loss = 0;  ///< of the steps, as calibrations of collectives count it: robust, on log(simulated / measured)
};

/// The compute profile with which steps take as long as they did, beginning with `start`. Requires at least one step,
/// all of one precision.
ComputeFit fit_compute(MeasuredSteps& steps, const ComputeProfile& start, const ComputeFitSettings& settings);

/// Errors of steps that a fit has not seen. Each step's `simulated` is set by it.
struct ComputeHoldOuts {
  MeasuredSteps fitted;  ///< by the fit on all
  MeasuredSteps rows;    ///< every other step by a fit on the rest, and the other way round
  MeasuredSteps models;  ///< each model by a fit on the others; empty where there is one
};
MeasuredSteps hold_out_rows(const MeasuredSteps& steps, const ComputeProfile& start,
                            const ComputeFitSettings& settings);
MeasuredSteps hold_out_models(const MeasuredSteps& steps, const ComputeProfile& start,
                              const ComputeFitSettings& settings);

/// Of each model and table that was measured on several numbers of GPUs: the larger systems, scaled by the error of the
/// smallest one.
MeasuredSteps anchored_series(const MeasuredSteps& steps);

}  // namespace athanor
