#include "tools/calibrate/tables/fit_stack.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "sim/check.hpp"
#include "tools/calibrate/tables/stack_search.hpp"

namespace athanor {

namespace {

/// How far simulated times move, in squares of logarithms, when a figure becomes a quarter larger or smaller.
double sensitivity(Tables& tables, const Profile& profile, const StackParameter& parameter) {
  constexpr double kStep = 1.25;
  const double value = parameter.cost.get(profile);
  std::vector<double> before;
  double moved = 0;
  for (const double factor : {1 / kStep, kStep}) {
    Profile changed = profile;
    parameter.cost.set(changed, std::clamp(value * factor, parameter.cost.least, parameter.cost.most));
    simulate(tables, changed);
    if (before.empty()) {
      for (const TableRow& row : tables.rows) { before.push_back(row.simulated_us); }
      continue;
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double step = std::log(tables.rows[i].simulated_us / before[i]);
      moved += step * step;
    }
  }
  return moved;
}

/// Those that are asked for; else those that are used and that move some rows by more than noise.
StackParameters candidates(Tables tables, const Profile& start, const StackFitSettings& settings) {
  StackParameters found;
  for (const StackParameter& each : stack_parameters()) {
    if (!settings.free.empty()) {
      if (std::count(settings.free.begin(), settings.free.end(), each.cost.name) > 0) { found.push_back(&each); }
      continue;
    }
    constexpr double kNoise = 1e-3;
    const double value = each.cost.get(start);
    const bool used = value >= each.cost.least && value <= each.cost.most;
    if (used && sensitivity(tables, start, each) > kNoise) { found.push_back(&each); }
  }
  return found;
}

StackFit fit_with(const Tables& tables, const Profile& start, NcclChoosing choosing, const StackFitSettings& settings) {
  Profile centre = start;
  centre.nccl->choosing = choosing;
  StackSearch search(tables, centre, settings.pull);
  StackParameters parameters = candidates(tables, centre, settings);
  search.anchor(parameters);
  search.refine(parameters, settings.cycles);
  if (settings.free.empty() && parameters.size() > settings.most_free) {
    parameters = search.reduce(std::move(parameters), settings.most_free);
    search.refine(parameters, settings.cycles);
  }
  search.finish(parameters, 30 * static_cast<int>(parameters.size()));
  StackFit fit{search.profile(), {}, {}, search.row_loss()};
  for (const StackParameter* each : parameters) {
    const FittedCost<Profile>& cost = each->cost;
    const double value = cost.get(fit.profile);
    fit.free.push_back(cost.name);
    if (value <= cost.least * 1.01 || value >= cost.most * 0.99) { fit.at_bound.push_back(cost.name); }
  }
  return fit;
}

/// Those for which `choose` says so, of rows that are in the order of their tables and sizes.
template <class Choose>
std::vector<TableRow> some(const std::vector<TableRow>& rows, const Choose& choose) {
  std::vector<TableRow> result;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(result), choose);
  return result;
}

/// The place of each row in its table, by size.
std::vector<std::size_t> places(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool first = i == 0 || rows[i].table != rows[i - 1].table;
    result.push_back(first ? 0 : result.back() + 1);
  }
  return result;
}

std::vector<TableRow> judged(const Tables& tables, std::vector<TableRow> rows, const Profile& profile) {
  Tables unseen = tables.with(std::move(rows));
  simulate(unseen, profile);
  return unseen.rows;
}

std::vector<TableRow> table(const Tables& tables, std::size_t number) {
  return some(tables.rows, [&](const TableRow& row) { return row.table == number; });
}

Profile fit_on(const Tables& tables, std::vector<TableRow> rows, const Profile& start,
               const StackFitSettings& settings) {
  return fit_stack(tables.with(std::move(rows)), start, settings).profile;
}

}  // namespace

StackFit fit_stack(const Tables& tables, const Profile& start, const StackFitSettings& settings) {
  require(start.nccl.has_value() && !settings.choosings.empty(), "a stack is fitted from a profile with \"nccl\"");
  std::optional<StackFit> best;
  for (const NcclChoosing choosing : settings.choosings) {
    StackFit fit = fit_with(tables, start, choosing, settings);
    settings.progress(fmt::format("{} figures, loss {:.5f}", fit.free.size(), fit.loss));
    if (!best || fit.loss < best->loss) { best = std::move(fit); }
  }
  return *std::move(best);
}

std::vector<HoldOut> errors_by_table(const Tables& tables) {
  std::vector<HoldOut> result;
  for (std::size_t i = 0; i < tables.cases.size(); ++i) {
    const std::vector<TableRow> rows = table(tables, i);
    if (!rows.empty()) { result.push_back({tables.name(rows.front()), band_errors(rows)}); }
  }
  return result;
}

std::vector<HoldOut> hold_out_sizes(const Tables& tables, const Profile& start, const StackFitSettings& settings) {
  const std::vector<std::size_t> place = places(tables.rows);
  std::vector<TableRow> all;
  for (const std::size_t fold : {0U, 1U}) {
    std::vector<TableRow> told;
    std::vector<TableRow> unseen;
    for (std::size_t i = 0; i < place.size(); ++i) { (place[i] % 2 == fold ? unseen : told).push_back(tables.rows[i]); }
    const Profile profile = fit_on(tables, std::move(told), start, settings);
    std::vector<TableRow> rows = judged(tables, std::move(unseen), profile);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return errors_by_table(tables.with(std::move(all)));
}

std::vector<HoldOut> hold_out_tables(const Tables& tables, const Profile& start, const StackFitSettings& settings) {
  std::vector<TableRow> all;
  for (std::size_t i = 0; i < tables.cases.size(); ++i) {
    std::vector<TableRow> told = some(tables.rows, [&](const TableRow& row) { return row.table != i; });
    if (told.empty() || told.size() == tables.rows.size()) { continue; }  // no other table, or no row of this one
    const Profile profile = fit_on(tables, std::move(told), start, settings);
    std::vector<TableRow> rows = judged(tables, table(tables, i), profile);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return errors_by_table(tables.with(std::move(all)));
}

std::vector<HoldOut> hold_out_but_anchors(const Tables& tables, const Profile& start,
                                          const StackFitSettings& settings) {
  constexpr std::ptrdiff_t kSmallest = 3;
  constexpr std::ptrdiff_t kLargest = 2;
  constexpr double kLittle = 0.01;  // these figures are told by their rows, few as they are
  std::vector<TableRow> all;
  for (std::size_t i = 0; i < tables.cases.size(); ++i) {
    const std::vector<TableRow> rows = table(tables, i);
    if (std::ssize(rows) <= kSmallest + kLargest) { continue; }
    StackFitSettings floor = settings;
    floor.pull = kLittle;
    // Small messages take the launch and latencies of LL, and do not tell one from the other.
    floor.free = {start.nccl->host_launch > Time::zero() ? "host_launch" : "launch", "LL.network_latency"};
    Profile profile = fit_on(tables, {rows.begin(), rows.begin() + kSmallest}, start, floor);
    StackFitSettings rate = settings;
    rate.pull = kLittle;
    rate.free = {"node_efficiency", "network_efficiency", "nvls_efficiency"};
    profile = fit_on(tables, {rows.end() - kLargest, rows.end()}, profile, rate);
    const std::vector<TableRow> rest = judged(tables, {rows.begin() + kSmallest, rows.end() - kLargest}, profile);
    all.insert(all.end(), rest.begin(), rest.end());
  }
  return errors_by_table(tables.with(std::move(all)));
}

}  // namespace athanor
