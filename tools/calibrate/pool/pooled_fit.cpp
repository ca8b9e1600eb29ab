#include "tools/calibrate/pool/pooled_fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/core.h>

namespace athanor {

namespace {

/// Whether an effect is of one stack.
bool is_of(const Effect& effect, const std::string& stack) {
  return effect.level == EffectLevel::stack && (effect.name == stack || effect.name.starts_with(stack + " "));
}

RowModel rows_of(PooledModel& model, std::vector<double> weights) {
  return {[&model](const std::vector<double>& unknowns) { return model.residuals(unknowns); },
          [&model](const std::vector<double>& unknowns, const std::vector<double>& residuals) {
            return model.slopes(unknowns, residuals, model.every_case());
          },
          std::move(weights)};
}

/// Slopes by some of the unknowns alone, which are numbered as in `free`.
std::vector<Slopes> by(const std::vector<std::size_t>& free, std::vector<Slopes> slopes) {
  for (Slopes& each : slopes) {
    for (Slopes::Column& column : each.columns) {
      std::vector<std::size_t> kept;
      for (const std::size_t unknown : column.unknowns) {
        const auto found = std::find(free.begin(), free.end(), unknown);
        if (found != free.end()) { kept.push_back(static_cast<std::size_t>(found - free.begin())); }
      }
      column.unknowns = std::move(kept);
    }
  }
  return slopes;
}

/// The loss with what a stack's own effects can do for its rows; all others stay as they are.
double loss_of_stack(PooledModel& model, const PooledFit& fit, const std::vector<double>& weights,
                     const std::string& stack) {
  const std::vector<std::size_t> own = model.cases_of(stack);
  const Spreads prior = model.prior(fit.spreads);
  std::vector<std::size_t> free;
  Spreads spreads;
  std::vector<double> start;
  for (std::size_t i = 0; i < model.effects().size(); ++i) {
    if (!is_of(model.effects()[i], stack)) { continue; }
    free.push_back(i);
    spreads.push_back(prior[i]);
    start.push_back(fit.posterior.mode[i]);
  }
  const auto whole = [&](const std::vector<double>& some) {
    std::vector<double> all = fit.posterior.mode;
    for (std::size_t i = 0; i < free.size(); ++i) { all[free[i]] = some[i]; }
    return all;
  };
  const RowModel rows{[&](const std::vector<double>& some) { return model.residuals(whole(some)); },
                      [&](const std::vector<double>& some, const std::vector<double>& residuals) {
                        return by(free, model.slopes(whole(some), residuals, own));
                      },
                      weights};
  return posterior(rows, spreads, std::move(start), {.iterations = 2}).loss;
}

}  // namespace

void choose(PooledModel& model, const PooledFit& fit, const std::vector<double>& weights, const std::string& stack) {
  const std::vector<std::size_t> own = model.cases_of(stack);
  double least = std::numeric_limits<double>::infinity();
  NcclChoosing best = choosing_of(model.cases()[own.front()].parts);
  const auto set = [&](NcclChoosing choosing) {
    for (const std::size_t i : own) { model.choose(i, choosing); }
  };
  for (const NcclChoosing each : {best, NcclChoosing::tuner, NcclChoosing::algorithm, NcclChoosing::fastest}) {
    set(each);
    const double loss = loss_of_stack(model, fit, weights, stack);
    if (loss < least) {
      least = loss;
      best = each;
    }
  }
  set(best);
}

PooledFit fit_pool(PooledModel& model, const std::vector<double>& weights, const PooledFitSettings& settings) {
  PooledFit fit{assumed_spreads(), {}, {}};
  std::vector<double> start(model.effects().size());
  const RowModel rows = rows_of(model, weights);
  for (int round = 0; round < settings.rounds; ++round) {
    const Spreads prior = model.prior(fit.spreads);
    fit.posterior = posterior(rows, prior, std::move(start), {.iterations = round == 0 ? 10 : 6});
    settings.progress(fmt::format("round {} of {}, loss {:.1f}", round + 1, settings.rounds, fit.posterior.loss));
    if (round == 0) {
      for (const std::string& stack : model.stacks()) {
        settings.progress(fmt::format("who decides on {}", stack));
        choose(model, fit, weights, stack);
      }
    }
    fit.variances = variances(fit.posterior, rows, prior);
    fit.spreads = updated(model.effects(), assumed_spreads(), fit.posterior.mode, fit.variances);
    start = fit.posterior.mode;
  }
  return fit;
}

SoftwarePool assumed_pool() {
  SoftwarePool pool;
  pool.name = "what is assumed of every stack";
  const EffectSpreads spreads = assumed_spreads();
  for (const Figure& each : figures()) {
    const auto at = [&](EffectLevel level) {
      return spreads.at(static_cast<std::size_t>(level)).at(static_cast<std::size_t>(each.kind));
    };
    pool.figures.push_back({each.typical, at(EffectLevel::all), at(EffectLevel::part), at(EffectLevel::stack), {}});
  }
  return pool;
}

SoftwarePool pool_of(const PooledModel& model, const PooledFit& fit) {
  SoftwarePool pool;
  for (const Figure& each : figures()) {
    const auto kind = static_cast<std::size_t>(each.kind);
    PooledFigure figure;
    figure.typical = each.typical;
    figure.spread = fit.spreads[static_cast<std::size_t>(EffectLevel::all)].at(kind);
    figure.part_spread = fit.spreads[static_cast<std::size_t>(EffectLevel::part)].at(kind);
    figure.stack_spread = fit.spreads[static_cast<std::size_t>(EffectLevel::stack)].at(kind);
    pool.figures.push_back(figure);
  }
  for (std::size_t i = 0; i < model.effects().size(); ++i) {
    const Effect& each = model.effects()[i];
    take(each, fit.posterior.mode[i], fit.variances[i], pool.figures[each.figure]);
  }
  return pool;
}

}  // namespace athanor
