#include "tools/calibrate/tables/fit_stack.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace athanor
