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

/// Of each effect itself and that on its figure's family.
std::vector<std::vector<std::size_t>> with_families(const PooledModel& model) {
  std::vector<std::vector<std::size_t>> sums;
  for (std::size_t i = 0; i < model.effects().size(); ++i) {
    sums.push_back({i});
    if (const auto family = model.effect_of_family(i)) { sums.back().push_back(*family); }
  }
  return sums;
}

/// How far a figure spreads at a level, by effects of its own and on its family.
double spread_of(const EffectSpreads& spreads, EffectLevel level, const Figure& figure) {
  const std::vector<double>& at = spreads.at(static_cast<std::size_t>(level));
  const double own = at.at(static_cast<std::size_t>(figure.kind));
  return figure.family == FigureFamily::none || level == EffectLevel::all
             ? own
             : std::hypot(own, at.at(group_of(figure.family)));
}

PooledFigure without_parts(const Figure& figure, const EffectSpreads& spreads) {
  return {figure.typical,
          spread_of(spreads, EffectLevel::all, figure),
          spread_of(spreads, EffectLevel::part, figure),
          spread_of(spreads, EffectLevel::stack, figure),
          {}};
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
  const RowModel rows{[&](const std::vector<double>& some) {
                        std::vector<double> residuals = fit.posterior.residuals;
                        model.simulate(whole(some), own, residuals);
                        return residuals;
                      },
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
  const NcclChoosing usual = choosing_of(model.cases()[own.front()].parts);
  NcclChoosing best = usual;
  const auto set = [&](NcclChoosing choosing) {
    for (const std::size_t i : own) { model.choose(i, choosing); }
  };
  for (const NcclChoosing each : {NcclChoosing::tuner, NcclChoosing::algorithm, NcclChoosing::fastest}) {
    set(each);
    const double loss = loss_of_stack(model, fit, weights, stack);
    if (loss < least || (loss == least && each == usual)) {
      least = loss;
      best = each;
    }
  }
  set(best);
}

PooledFit fit_pool(PooledModel& model, const std::vector<double>& weights, const PooledFitSettings& settings) {
  PooledFit fit{assumed_spreads(), {}, {}, {}};
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
    fit.variances_in_family = variances(fit.posterior, rows, prior, with_families(model));
    fit.spreads = updated(model.effects(), assumed_spreads(), fit.posterior.mode, fit.variances);
    start = fit.posterior.mode;
  }
  return fit;
}

SoftwarePool assumed_pool() {
  SoftwarePool pool;
  pool.name = "what is assumed of every stack";
  const EffectSpreads spreads = assumed_spreads();
  for (const Figure& each : figures()) { pool.figures.push_back(without_parts(each, spreads)); }
  return pool;
}

SoftwarePool pool_of(const PooledModel& model, const PooledFit& fit) {
  SoftwarePool pool;
  for (const Figure& each : figures()) { pool.figures.push_back(without_parts(each, fit.spreads)); }
  for (std::size_t i = 0; i < model.effects().size(); ++i) {
    const Effect& each = model.effects()[i];
    if (each.figures.size() > 1) { continue; }  // told with each of its figures
    const auto family = model.effect_of_family(i);
    const double logarithm = fit.posterior.mode[i] + (family ? fit.posterior.mode[*family] : 0);
    take(each, logarithm, fit.variances_in_family[i], pool.figures[each.figures.front()]);
  }
  return pool;
}

}  // namespace athanor
