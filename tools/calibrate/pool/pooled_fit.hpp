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

/// What is told to a fit of a stack whose rows are judged.
enum class HeldOut : std::uint8_t {
  nothing,      ///< all rows
  sizes,        ///< every other size of each table, in turn
  table,        ///< the stack's other tables
  stack,        ///< no row of the stack
  all_but_two,  ///< the smallest and the largest size of one of its tables
};
constexpr std::size_t kHeldOuts = 5;

/// log(simulated / measured) of each row by a fit that has not seen it; NaN of rows that are not judged: of stacks with
/// one table, the two that were told. Spreads stay those of the whole fit.
std::vector<double> hold_out(PooledModel& model, const PooledFit& whole, HeldOut what);

}  // namespace athanor
