#include "tools/calibrate/training/step_pool_fit.hpp"

#include <cmath>

#include <fmt/core.h>

namespace athanor {

StepPoolFit fit_step_pool(PooledSteps& steps, const StepPoolSettings& settings) {
  StepPoolFit fit{assumed_step_spreads(), {}, {}};
  std::vector<double> mode(steps.effects().size());
  for (int round = 0; round < settings.rounds; ++round) {
    steps.simulate(mode);
    const RowModel rows = steps.estimates(std::vector<double>(steps.steps().size(), 1));
    const Spreads prior = spreads_of(steps.effects(), fit.spreads);
    fit.posterior = posterior(rows, prior, std::move(mode), kOnEstimates);
    settings.progress(fmt::format("round {} of {}, loss {:.1f}", round + 1, settings.rounds, fit.posterior.loss));
    fit.variances = variances(fit.posterior, rows, prior);
    fit.spreads = updated(steps.effects(), assumed_step_spreads(), fit.posterior.mode, fit.variances);
    mode = fit.posterior.mode;
  }
  steps.simulate(mode);
  return fit;
}

ComputePool pool_of(const PooledSteps& steps, const StepPoolFit& fit) {
  ComputePool pool;
  for (std::size_t i = 0; i < kComputeFigures; ++i) {
    const auto spread = [&](EffectLevel level) { return fit.spreads.at(static_cast<std::size_t>(level)).at(i); };
    pool.figures.at(i) = {compute_figure_ranges().at(i).typical,
                          spread(EffectLevel::all),
                          spread(EffectLevel::part),
                          spread(EffectLevel::stack),
                          {}};
  }
  for (std::size_t i = 0; i < steps.effects().size(); ++i) {
    const Effect& each = steps.effects()[i];
    take(each, fit.posterior.mode[i], fit.variances[i], pool.figures.at(each.figures.front()));
  }
  return pool;
}

}  // namespace athanor
