#include "tools/calibrate/pool/pooled_fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include <fmt/core.h>

namespace athanor {

namespace {

using Cases = std::vector<std::size_t>;

Cases cases_of_stack(const PooledModel& model, const std::string& stack) {
  Cases result;
  for (std::size_t i = 0; i < model.cases().size(); ++i) {
    if (model.cases()[i].stack == stack) { result.push_back(i); }
  }
  return result;
}

std::set<std::string> stacks_of(const PooledModel& model) {
  std::set<std::string> result;
  for (const StackCase& each : model.cases()) { result.insert(each.stack); }
  return result;
}

/// Whether an effect is of one stack.
bool is_of(const Effect& effect, const std::string& stack) {
  return effect.level == EffectLevel::stack && (effect.name == stack || effect.name.starts_with(stack + " "));
}

/// Adds to residuals what the slopes make of a step of the unknowns.
void follow(const std::vector<Slopes>& slopes, const std::vector<double>& from, const std::vector<double>& to,
            std::vector<double>& residuals) {
  for (const Slopes& each : slopes) {
    for (const Slopes::Column& column : each.columns) {
      double step = 0;
      for (const std::size_t i : column.unknowns) { step += to[i] - from[i]; }
      if (step == 0) { continue; }
      for (std::size_t row = 0; row < column.of_rows.size(); ++row) {
        residuals[each.first_row + row] += column.of_rows[row] * step;
      }
    }
  }
}

/// Whether what all stacks share moves so little that the rows of others follow the slopes of the fit of all.
enum class Others : std::uint8_t { simulated, by_slopes };

/// The rows of all cases near a fit of all, whose slopes those of other stacks keep.
RowModel rows_near(PooledModel& model, const Posterior& whole, Cases own, Others others, std::vector<double> weights,
                   std::vector<bool> anchors) {
  return {[&model, &whole, own, others](const std::vector<double>& unknowns) {
            if (others == Others::simulated) { return model.residuals(unknowns); }
            std::vector<double> residuals = whole.residuals;
            follow(whole.slopes, whole.mode, unknowns, residuals);
            model.simulate(unknowns, own, residuals);
            return residuals;
          },
          [&model, &whole, own](const std::vector<double>& unknowns, const std::vector<double>& residuals) {
            std::vector<Slopes> all = whole.slopes;
            std::vector<Slopes> fresh = model.slopes(unknowns, residuals, own);
            for (std::size_t i = 0; i < own.size(); ++i) { all[own[i]] = std::move(fresh[i]); }
            return all;
          },
          std::move(weights), std::move(anchors)};
}

RowModel rows_of(PooledModel& model, std::vector<double> weights) {
  return {[&model](const std::vector<double>& unknowns) { return model.residuals(unknowns); },
          [&model](const std::vector<double>& unknowns, const std::vector<double>& residuals) {
            return model.slopes(unknowns, residuals, model.every_case());
          },
          std::move(weights)};
}

/// Each kind and level: the mean of what effects are and may be, squared, with four of those assumed.
EffectSpreads updated(const PooledModel& model, const Posterior& at, const std::vector<double>& variances) {
  constexpr double kAssumed = 4;
  const EffectSpreads assumed = assumed_spreads();
  EffectSpreads sums{};
  EffectSpreads counts{};
  for (std::size_t i = 0; i < model.effects().size(); ++i) {
    const Effect& each = model.effects()[i];
    const auto level = static_cast<std::size_t>(each.level);
    const auto kind = static_cast<std::size_t>(figures()[each.figure].kind);
    sums.at(level).at(kind) += at.mode[i] * at.mode[i] + variances[i];
    ++counts.at(level).at(kind);
  }
  EffectSpreads result = assumed;
  for (std::size_t level = 1; level < kEffectLevels; ++level) {  // of all stacks there is one of each
    for (std::size_t kind = 0; kind < kFigureKinds; ++kind) {
      const double before = assumed.at(level).at(kind);
      result.at(level).at(kind) =
          std::sqrt((sums.at(level).at(kind) + kAssumed * before * before) / (counts.at(level).at(kind) + kAssumed));
    }
  }
  return result;
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
  const Cases own = cases_of_stack(model, stack);
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

void choose(PooledModel& model, const PooledFit& fit, const std::vector<double>& weights, const std::string& stack) {
  const Cases own = cases_of_stack(model, stack);
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

}  // namespace

PooledFit fit_pool(PooledModel& model, const std::vector<double>& weights, const PooledFitSettings& settings) {
  PooledFit fit{assumed_spreads(), {}, {}};
  std::vector<double> start(model.effects().size());
  const RowModel rows = rows_of(model, weights);
  for (int round = 0; round < settings.rounds; ++round) {
    const Spreads prior = model.prior(fit.spreads);
    fit.posterior = posterior(rows, prior, std::move(start), {.iterations = round == 0 ? 10 : 6});
    settings.progress(fmt::format("round {} of {}, loss {:.1f}", round + 1, settings.rounds, fit.posterior.loss));
    if (round == 0) {
      for (const std::string& stack : stacks_of(model)) {
        settings.progress(fmt::format("who decides on {}", stack));
        choose(model, fit, weights, stack);
      }
    }
    fit.variances = variances(fit.posterior, rows, prior);
    fit.spreads = updated(model, fit.posterior, fit.variances);
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
    PooledFigure& figure = pool.figures[each.figure];
    const double factor = std::exp(fit.posterior.mode[i]);
    const double spread = std::sqrt(fit.variances[i]);
    switch (each.level) {
      case EffectLevel::all:
        figure.typical *= factor;
        figure.spread = spread;
        break;
      case EffectLevel::part: figure.parts.push_back({each.name, factor, spread}); break;
      case EffectLevel::stack: break;
    }
  }
  return pool;
}

namespace {

constexpr double kNotJudged = std::numeric_limits<double>::quiet_NaN();

/// A fit that begins without the stack's own effects, so that nothing remembers rows that it is not told.
std::vector<double> fit_without(PooledModel& model, const PooledFit& whole, const std::vector<double>& weights,
                                const Cases& own, Others others, const std::vector<bool>& anchors) {
  std::vector<double> start = whole.posterior.mode;
  const std::string& stack = model.cases()[own.front()].stack;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (is_of(model.effects()[i], stack)) { start[i] = 0; }
  }
  const RowModel rows = rows_near(model, whole.posterior, own, others, weights, anchors);
  return posterior(rows, model.prior(whole.spreads), std::move(start), {.iterations = 15, .tolerance = 1e-4}).residuals;
}

/// What becomes of a row of the stack in question.
enum class Role : std::uint8_t { told, anchor, judged, ignored };

/// Whose word decides is found again where whole tables are told, and what is usual for the stack's parts elsewhere.
enum class Deciding : std::uint8_t { as_fitted, found_again, usual };

struct Trial {
  Cases own;  ///< of one stack
  Others others = Others::by_slopes;
  Deciding deciding = Deciding::as_fitted;
  std::function<Role(std::size_t row)> role;
};

void judge(PooledModel& model, const PooledFit& whole, const Trial& trial, std::vector<double>& result) {
  const std::vector<TableRow>& rows = model.tables().rows;
  std::vector<double> weights(rows.size(), 1);
  std::vector<bool> anchors(rows.size());
  std::vector<std::size_t> judged;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::count(trial.own.begin(), trial.own.end(), rows[i].in_case) == 0) { continue; }
    const Role role = trial.role(i);
    weights[i] = role == Role::told || role == Role::anchor ? 1 : 0;
    anchors[i] = role == Role::anchor;
    if (role == Role::judged) { judged.push_back(i); }
  }
  std::vector<NcclChoosing> before;
  for (const std::size_t i : trial.own) { before.push_back(model.cases()[i].choosing); }
  if (trial.deciding == Deciding::found_again) {
    choose(model, whole, weights, model.cases()[trial.own.front()].stack);
  } else if (trial.deciding == Deciding::usual) {
    for (const std::size_t i : trial.own) { model.choose(i, choosing_of(model.cases()[i].parts)); }
  }
  const std::vector<double> residuals = fit_without(model, whole, weights, trial.own, trial.others, anchors);
  for (const std::size_t i : judged) { result[i] = residuals[i]; }
  for (std::size_t i = 0; i < before.size(); ++i) { model.choose(trial.own[i], before[i]); }
}

/// The rows of each of a stack's tables, by size.
std::map<std::size_t, std::vector<std::size_t>> rows_by_table(const PooledModel& model, const Cases& own) {
  std::map<std::size_t, std::vector<std::size_t>> result;
  const std::vector<TableRow>& rows = model.tables().rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::count(own.begin(), own.end(), rows[i].in_case) > 0) { result[rows[i].table].push_back(i); }
  }
  for (auto& [table, some] : result) {
    std::stable_sort(some.begin(), some.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a].size < rows[b].size; });
  }
  return result;
}

std::vector<Trial> trials_of(const PooledModel& model, const Cases& own, HeldOut what) {
  const auto tables = rows_by_table(model, own);
  const std::vector<TableRow>& rows = model.tables().rows;
  std::vector<Trial> trials;
  const Others others = what == HeldOut::stack || what == HeldOut::table ? Others::simulated
                                                                         : Others::by_slopes;  // much is missing there
  const auto add = [&](Deciding deciding, auto role) { trials.push_back({own, others, deciding, role}); };
  if (what == HeldOut::stack) {
    add(Deciding::usual, [](std::size_t) { return Role::judged; });
  } else if (what == HeldOut::sizes) {
    std::map<std::size_t, std::size_t> places;
    for (const auto& [table, some] : tables) {
      for (std::size_t i = 0; i < some.size(); ++i) { places[some[i]] = i; }
    }
    for (const std::size_t fold : {0U, 1U}) {
      add(Deciding::as_fitted,
          [places, fold](std::size_t row) { return places.at(row) % 2 == fold ? Role::judged : Role::told; });
    }
  } else if (what == HeldOut::table && tables.size() > 1) {
    for (const auto& [table, some] : tables) {
      add(Deciding::found_again,
          [&rows, table = table](std::size_t row) { return rows[row].table == table ? Role::judged : Role::told; });
    }
  } else if (what == HeldOut::all_but_two) {
    constexpr std::size_t kFewest = 4;
    for (const auto& [table, some] : tables) {
      if (some.size() < kFewest) { continue; }
      const Bytes least = rows[some.front()].size;
      const Bytes most = rows[some.back()].size;
      add(Deciding::usual, [&rows, table = table, least, most](std::size_t row) {
        if (rows[row].table != table) { return Role::ignored; }
        return rows[row].size == least || rows[row].size == most ? Role::anchor : Role::judged;
      });
    }
  }
  return trials;
}

}  // namespace

std::vector<double> hold_out(PooledModel& model, const PooledFit& whole, HeldOut what) {
  if (what == HeldOut::nothing) { return whole.posterior.residuals; }
  std::vector<double> result(model.tables().rows.size(), kNotJudged);
  for (const std::string& stack : stacks_of(model)) {
    for (const Trial& trial : trials_of(model, cases_of_stack(model, stack), what)) {
      judge(model, whole, trial, result);
    }
  }
  return result;
}

}  // namespace athanor
