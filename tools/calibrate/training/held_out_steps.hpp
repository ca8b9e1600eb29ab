#pragma once

#include <array>
#include <functional>
#include <vector>

#include "models/training/compute_pool.hpp"
#include "tools/calibrate/training/simple_rules.hpp"
#include "tools/calibrate/training/step_pool_fit.hpp"

namespace athanor {

/// What is told of a step's software to the fit by which it is judged.
enum class HeldOutSteps : std::uint8_t {
  nothing,   ///< all of it
  steps,     ///< every other step of each table, in turn
  models,    ///< its tables' other models
  one_step,  ///< the middle step of its table, which is met
  software,  ///< no step of its software
};
constexpr std::size_t kHeldOutSteps = 5;

/// log(simulated / measured) of each step, simulated with what a fit found that has not seen it; NaN of steps that are
/// not judged: of tables with one model, the one step that was told. Spreads stay those of the whole fit.
std::vector<double> hold_out(const PooledSteps& steps, const StepPoolFit& fit, HeldOutSteps what);
/// The same by a rule in place of a fit; nothing where all is told.
std::vector<double> hold_out(const PooledSteps& steps, SimpleRule rule, HeldOutSteps what);
using HeldOutStepResiduals = std::array<std::vector<double>, kHeldOutSteps>;  ///< by HeldOutSteps; empty: not asked

/// How far steps were off that were held out; of the whole, and of those that count.
std::vector<StepError> step_errors(const PooledSteps& steps, const HeldOutStepResiduals& residuals,
                                   const std::function<bool(std::size_t step)>& counts);

/// How many steps lie between `low` and `high` of the errors of all other software.
struct StepCoverage {
  StepKnowledge knowledge = StepKnowledge::nothing;
  double share = 0;  ///< mean over tables; 0.8 is what is claimed
  double median_width = 0;
};
std::vector<StepCoverage> step_coverage(const PooledSteps& steps, const HeldOutStepResiduals& residuals);

}  // namespace athanor
