#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/training/compute_pool.hpp"
#include "tools/calibrate/training/pooled_steps.hpp"

namespace athanor {

/// What all measured steps together tell.
struct StepPoolFit {
  EffectSpreads spreads;
  Posterior posterior;            ///< by estimates from steps that were simulated with its mode, or nearly
  std::vector<double> variances;  ///< of the unknowns
};

/// Estimates cost next to nothing.
constexpr PosteriorSettings kOnEstimates{.iterations = 25, .tolerance = 1e-4};

struct StepPoolSettings {
  int rounds = 6;  ///< of figures, simulations and spreads in turn
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// Figures by their posterior mode, found with estimates from simulated steps, which are then simulated with what was
/// found; spreads of effects as in fit_pool(). Leaves the steps simulated with the mode.
StepPoolFit fit_step_pool(PooledSteps& steps, const StepPoolSettings& settings);

ComputePool pool_of(const PooledSteps& steps, const StepPoolFit& fit);

}  // namespace athanor
