#include "tools/calibrate/training/pooled_steps.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace athanor {

namespace {

ComputeParts parts_of_step(const MeasuredStep& step) {
  const TrainingSetup& setup = step.step->setup();
  ComputeParts parts = compute_parts(setup.gpu, setup.plan.precision, setup.model);
  parts.software = step.with.software;
  return parts;
}

/// By step. Where one file has steps of several software, these are tables of their own.
std::vector<std::string> tables_of(const MeasuredSteps& steps) {
  std::map<std::string, std::set<std::string>> software;
  for (const MeasuredStep& each : steps) { software[each.table_name()].insert(each.with.software); }
  std::vector<std::string> tables;
  for (const MeasuredStep& each : steps) {
    const std::string name = each.table_name();
    tables.push_back(software[name].size() == 1 ? name : name + ", " + each.with.software);
  }
  return tables;
}

}  // namespace

EffectSpreads assumed_step_spreads() {
  // By figure: share, depth, waves, narrow_share, narrow_depth, attention, memory, interference, straggler_growth,
  // pass_overhead.
  EffectSpreads spreads;
  spreads[static_cast<std::size_t>(EffectLevel::all)] = {0.2, 0.7, 1.0, 0.2, 0.5, 0.3, 0.2, 1.0, 0.7, 1.0};
  spreads[static_cast<std::size_t>(EffectLevel::part)] = {0.12, 0.4, 0.7, 0.12, 0.3, 0.2, 0.12, 0.7, 0.5, 0.7};
  spreads[static_cast<std::size_t>(EffectLevel::stack)] = {0.08, 0.3, 0.5, 0.08, 0.2, 0.15, 0.1, 0.7, 0.5, 0.5};
  return spreads;
}

PooledSteps::PooledSteps(MeasuredSteps steps) : steps_(std::move(steps)) {
  const std::vector<std::string> tables = tables_of(steps_);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::string& table = tables[i];
    const ComputeParts parts = parts_of_step(steps_[i]);
    if (cases_.empty() || cases_.back().table != table || !(cases_.back().parts == parts)) {
      cases_.push_back({i, 0, table, parts, {}});
      add_effects(cases_.back());
    }
    ++cases_.back().count;
    case_of_.push_back(cases_.size() - 1);
  }
}

void PooledSteps::add_effects(StepCase& of) {
  for (std::size_t i = 0; i < kComputeFigures; ++i) {
    const auto figure = static_cast<ComputeFigure>(i);
    if (!matters(figure, of.parts)) { continue; }
    of.effects.at(i).push_back(effects_.place({{i}, i, EffectLevel::all, ""}));
    for (const std::string& part : parts_of(figure, of.parts)) {
      of.effects.at(i).push_back(effects_.place({{i}, i, EffectLevel::part, part}));
    }
    of.effects.at(i).push_back(effects_.place({{i}, i, EffectLevel::stack, "table " + of.table}));
  }
}

ComputeValues PooledSteps::values(const StepCase& of, const std::vector<double>& unknowns) const {
  ComputeValues result{};
  for (std::size_t i = 0; i < kComputeFigures; ++i) {
    const std::vector<std::size_t>& mine = of.effects.at(i);
    const auto add = [&](double sum, std::size_t effect) { return sum + unknowns[effect]; };
    result.at(i) =
        compute_figure_ranges().at(i).typical * std::exp(std::accumulate(mine.begin(), mine.end(), 0.0, add));
  }
  return result;
}

ComputeProfile PooledSteps::profile(std::size_t step, const std::vector<double>& unknowns) const {
  const StepCase& of = cases_[case_of_[step]];
  return compute_profile(values(of, unknowns), of.parts.precision);
}

void PooledSteps::simulate(const std::vector<double>& unknowns) {
  with_.clear();
  for (const StepCase& each : cases_) {
    with_.push_back(compute_profile(values(each, unknowns), each.parts.precision));
  }
  athanor::simulate(
      steps_, [&](std::size_t step) { return with_[case_of_[step]]; }, true);
}

std::vector<double> PooledSteps::simulated(const std::vector<std::size_t>& some,
                                           const std::vector<double>& unknowns) const {
  MeasuredSteps judged;
  for (const std::size_t i : some) { judged.push_back(steps_[i]); }
  athanor::simulate(
      judged, [&](std::size_t i) { return profile(some[i], unknowns); }, false);
  std::vector<double> result(steps_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < some.size(); ++i) {
    result[some[i]] = std::log(seconds(judged[i].simulated.time) / seconds(judged[i].measured));
  }
  return result;
}

std::vector<double> PooledSteps::residuals(const StepCase& of, const ComputeValues& values) const {
  const ComputeProfile& with = with_[case_of_[of.first]];
  const ComputeProfile other = compute_profile(values, of.parts.precision);
  std::vector<double> result;
  for (std::size_t i = of.first; i < of.first + of.count; ++i) {
    const MeasuredStep& step = steps_[i];
    result.push_back(
        std::log(estimated_seconds(*step.kernels, step.simulated, step.gpus, with, other) / seconds(step.measured)));
  }
  return result;
}

Slopes PooledSteps::slopes(const StepCase& of, const std::vector<double>& unknowns,
                           const std::vector<double>& residuals) const {
  constexpr double kStep = 0.02;  // of a logarithm
  const ComputeValues here = values(of, unknowns);
  Slopes result{of.first, {}};
  for (std::size_t figure = 0; figure < kComputeFigures; ++figure) {
    if (of.effects.at(figure).empty()) { continue; }
    const double most = compute_figure_ranges().at(figure).most;
    const double step = here.at(figure) * std::exp(kStep) > most ? -kStep : kStep;
    ComputeValues there = here;
    there.at(figure) *= std::exp(step);
    Slopes::Column column{of.effects.at(figure), this->residuals(of, there)};
    for (std::size_t row = 0; row < column.of_rows.size(); ++row) {
      column.of_rows[row] = (column.of_rows[row] - residuals[of.first + row]) / step;
    }
    result.columns.push_back(std::move(column));
  }
  return result;
}

RowModel PooledSteps::estimates(std::vector<double> weights, std::vector<bool> anchors) const {
  return {[this](const std::vector<double>& unknowns) {
            std::vector<double> all;
            for (const StepCase& each : cases_) {
              const std::vector<double> some = residuals(each, values(each, unknowns));
              all.insert(all.end(), some.begin(), some.end());
            }
            return all;
          },
          [this](const std::vector<double>& unknowns, const std::vector<double>& residuals) {
            std::vector<Slopes> all;
            for (const StepCase& each : cases_) { all.push_back(slopes(each, unknowns, residuals)); }
            return all;
          },
          std::move(weights), std::move(anchors)};
}

}  // namespace athanor
