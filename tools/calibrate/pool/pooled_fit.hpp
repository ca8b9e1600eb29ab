#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/calibrate/pool/pooled_model.hpp"

namespace athanor {

/// What all tables together tell.
struct PooledFit {
  EffectSpreads spreads;
  Posterior posterior;
  std::vector<double> variances;  ///< of the unknowns
  std::vector<double>
      variances_in_family;  ///< the same, with the effect on its figure's family added where there is one
};

struct PooledFitSettings {
  int rounds = 3;  ///< of figures and spreads in turn
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// Figures by their posterior mode, and the spreads of their effects by expectation and maximisation on Laplace's
/// approximation, as if four more effects of each kind were known to spread as assumed. For each stack the word decides
/// (NcclChoosing) that explains its rows best; rows of weight 0 are not looked at.
PooledFit fit_pool(PooledModel& model, const std::vector<double>& weights, const PooledFitSettings& settings);

/// Without any table: every figure as it is usual, as uncertain as assumed_spreads() says.
SoftwarePool assumed_pool();

SoftwarePool pool_of(const PooledModel& model, const PooledFit& fit);

/// Sets the stack's cases to the word (NcclChoosing) that explains its rows best, of those that have a weight.
void choose(PooledModel& model, const PooledFit& fit, const std::vector<double>& weights, const std::string& stack);

}  // namespace athanor
