#include "tools/calibrate/pool/hold_out.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace athanor {

namespace {

using Cases = std::vector<std::size_t>;
constexpr double kNotJudged = std::numeric_limits<double>::quiet_NaN();

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

/// The rows of all cases near unknowns with these residuals and slopes: those of other stacks follow the slopes.
RowModel rows_near(PooledModel& model, const Posterior& near, Cases own, std::vector<double> weights,
                   std::vector<bool> anchors) {
  return {[&model, &near, own](const std::vector<double>& unknowns) {
            std::vector<double> residuals = near.residuals;
            follow(near.slopes, near.mode, unknowns, residuals);
            model.simulate(unknowns, own, residuals);
            return residuals;
          },
          [&model, &near, own](const std::vector<double>& unknowns, const std::vector<double>& residuals) {
            std::vector<Slopes> all = near.slopes;
            std::vector<Slopes> fresh = model.slopes(unknowns, residuals, own);
            for (std::size_t i = 0; i < own.size(); ++i) { all[own[i]] = std::move(fresh[i]); }
            return all;
          },
          std::move(weights), std::move(anchors)};
}

/// How much the rest of the fit has to move where a stack's rows are not told.
enum class Missing : std::uint8_t { little, much };

/// A fit that begins without what the stack alone has, so that nothing remembers rows that it is not told. What all
/// stacks share moves with the rows that are left: by the slopes of the fit of all, and where much is missing once
/// more by slopes that are taken anew where that led.
std::vector<double> fit_without(PooledModel& model, const PooledFit& whole, const std::vector<double>& weights,
                                const Cases& own, Missing missing, const std::vector<bool>& anchors) {
  std::vector<double> start = whole.posterior.mode;
  const std::vector<bool> shared = model.shared_with_others(own);
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (!shared[i]) { start[i] = 0; }
  }
  const Spreads prior = model.prior(whole.spreads);
  constexpr PosteriorSettings kSettings{.iterations = 8, .tolerance = 1e-3};
  Posterior found =
      posterior(rows_near(model, whole.posterior, own, weights, anchors), prior, std::move(start), kSettings);
  if (missing == Missing::much) {
    Posterior near{found.mode, model.residuals(found.mode), {}, 0};
    near.slopes = model.slopes(near.mode, near.residuals, model.every_case());
    found = posterior(rows_near(model, near, own, weights, anchors), prior, near.mode, kSettings);
  }
  return found.residuals;
}

/// What becomes of a row of the stack in question.
enum class Role : std::uint8_t { told, anchor, judged, ignored };

/// Whose word decides is found again where whole tables are told, and what is usual for the stack's parts elsewhere.
enum class Deciding : std::uint8_t { as_fitted, found_again, usual };

struct Trial {
  Cases own;  ///< of one stack, or of one collective
  Missing missing = Missing::little;
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
  const std::vector<double> residuals = fit_without(model, whole, weights, trial.own, trial.missing, anchors);
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
  const Missing missing = what == HeldOut::stack ? Missing::much : Missing::little;
  const auto add = [&](Deciding deciding, auto role) { trials.push_back({own, missing, deciding, role}); };
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

/// A trial for each collective, of no table of which any stack is told.
std::vector<Trial> trials_by_collective(const PooledModel& model) {
  std::map<CollectiveKind, Cases> cases;
  for (const std::size_t i : model.every_case()) { cases[model.tables().cases[i].setup.kind].push_back(i); }
  std::vector<Trial> trials;
  if (cases.size() < 2) { return trials; }
  for (auto& [kind, own] : cases) {
    trials.push_back({std::move(own), Missing::much, Deciding::as_fitted, [](std::size_t) { return Role::judged; }});
  }
  return trials;
}

}  // namespace

std::vector<double> hold_out(PooledModel& model, const PooledFit& whole, HeldOut what) {
  if (what == HeldOut::nothing) { return whole.posterior.residuals; }
  std::vector<double> result(model.tables().rows.size(), kNotJudged);
  if (what == HeldOut::collective) {
    for (const Trial& trial : trials_by_collective(model)) { judge(model, whole, trial, result); }
    return result;
  }
  for (const std::string& stack : model.stacks()) {
    for (const Trial& trial : trials_of(model, model.cases_of(stack), what)) { judge(model, whole, trial, result); }
  }
  return result;
}

}  // namespace athanor
