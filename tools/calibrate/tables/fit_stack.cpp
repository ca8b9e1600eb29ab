#include "tools/calibrate/tables/fit_stack.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "sim/check.hpp"
#include "tools/calibrate/tables/stack_parameters.hpp"

namespace athanor {

namespace {

using Parameters = std::vector<const StackParameter*>;

Profile with(const Profile& profile, const Parameters& parameters, const std::vector<double>& values) {
  Profile result = profile;
  for (std::size_t i = 0; i < parameters.size(); ++i) { parameters[i]->cost.set(result, values[i]); }
  return result;
}

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

/// Those that are used and that move some rows by more than noise.
Parameters choose(Tables tables, const Profile& start, const StackFitSettings& settings) {
  std::vector<std::pair<double, const StackParameter*>> found;
  for (const StackParameter& each : stack_parameters()) {
    const bool asked = std::count(settings.free.begin(), settings.free.end(), each.cost.name) > 0;
    if (!settings.free.empty()) {
      if (asked) { found.emplace_back(1, &each); }
      continue;
    }
    const double value = each.cost.get(start);
    const bool used = value >= each.cost.least && value <= each.cost.most;
    const double moved = used ? sensitivity(tables, start, each) : 0;
    constexpr double kNoise = 1e-3;
    if (moved > kNoise) { found.emplace_back(moved, &each); }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (settings.free.empty()) { found.resize(std::min(found.size(), settings.most_free)); }
  Parameters result;
  for (const auto& [moved, parameter] : found) { result.push_back(parameter); }
  return result;
}

std::vector<SearchRange> ranges(const Parameters& parameters, const Profile& start) {
  std::vector<SearchRange> result;
  for (const StackParameter* each : parameters) {
    result.push_back({each->cost.get(start), each->cost.least, each->cost.most});
  }
  return result;
}

/// Per e-fold and parameter, of the sum over rows: a twentieth of what one row that is e-fold off adds.
double pull(const std::vector<SearchRange>& ranges, const std::vector<double>& values) {
  constexpr double kWeight = 0.06;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double folds = std::log(values[i] / ranges[i].start);
    sum += kWeight * kWeight * folds * folds;
  }
  return sum;
}

}  // namespace

double stack_loss(const std::vector<TableRow>& rows) {
  constexpr double kScale = 0.1;
  double sum = 0;
  for (const TableRow& row : rows) {
    const double off = std::log(row.simulated_us / row.measured_us) / kScale;
    sum += 2 * kScale * kScale * (std::sqrt(1 + off * off) - 1);
  }
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

namespace {

/// One search after the other, with ever smaller steps. `centre`: where the pull goes.
StackFit search(const Tables& tables, const Profile& start, const Profile& centre, const Parameters& parameters,
                int evaluations) {
  StackFit fit{start, {}, {}, 0};
  Tables working = tables;
  std::vector<SearchRange> from = ranges(parameters, start);
  const std::vector<SearchRange> where = ranges(parameters, centre);
  const auto rows = static_cast<double>(std::max<std::size_t>(1, tables.rows.size()));
  const auto loss = [&](const std::vector<double>& values) {
    simulate(working, with(start, parameters, values));
    return stack_loss(working.rows) + pull(where, values) / rows;
  };
  const std::array searches{std::tuple{1.5, SearchMethod::quadratic}, std::tuple{1.2, SearchMethod::quadratic},
                            std::tuple{1.1, SearchMethod::subplex}};
  for (const auto& [factor, method] : searches) {
    if (parameters.empty()) { break; }
    const std::vector<double> found = least_error(from, factor, evaluations / 3, loss, method);
    for (std::size_t i = 0; i < found.size(); ++i) { from[i].start = found[i]; }
  }
  std::vector<double> values;
  for (const SearchRange& range : from) { values.push_back(range.start); }
  fit.profile = with(start, parameters, values);
  fit.loss = loss(values);
  return fit;
}

}  // namespace

StackFit fit_stack(const Tables& tables, const Profile& start, const StackFitSettings& settings) {
  require(start.nccl.has_value() && !settings.choosings.empty(), "a stack is fitted from a profile with \"nccl\"");
  StackFit best;
  Parameters parameters;
  for (const NcclChoosing choosing : settings.choosings) {
    Profile tried = start;
    tried.nccl->choosing = choosing;
    const Parameters told = choose(tables, tried, settings);
    const bool only = settings.choosings.size() == 1;
    settings.progress(fmt::format("{} figures", told.size()));
    StackFit fit = search(tables, tried, start, told, only ? settings.evaluations : settings.evaluations / 2);
    if (parameters.empty() || fit.loss < best.loss) {
      best = std::move(fit);
      parameters = told;
    }
  }
  if (settings.choosings.size() > 1) {  // the rough fit may have gone astray: also from the start once more
    Profile again = start;
    again.nccl->choosing = best.profile.nccl->choosing;
    StackFit other = search(tables, again, start, parameters, settings.evaluations);
    best = search(tables, best.profile, start, parameters, settings.evaluations);
    if (other.loss < best.loss) { best = std::move(other); }
  }
  for (const StackParameter* each : parameters) {
    const FittedCost<Profile>& cost = each->cost;
    const double value = cost.get(best.profile);
    best.free.push_back(cost.name);
    if (value <= cost.least * 1.01 || value >= cost.most * 0.99) { best.at_bound.push_back(cost.name); }
  }
  return best;
}

}  // namespace athanor
