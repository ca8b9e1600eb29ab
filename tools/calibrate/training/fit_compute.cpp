#include "tools/calibrate/training/fit_compute.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/check.hpp"

namespace athanor {

namespace {

using Figure = FittedCost<ComputeProfile>;

Figure figure(std::string name, double least, double most, std::function<double&(ComputeProfile&)> at) {
  return {std::move(name),
          least,
          most,
          false,
          [at](const ComputeProfile& profile) {
            ComputeProfile copy = profile;
            return at(copy);
          },
          [at](ComputeProfile& profile, double value) { at(profile) = value; }};
}

/// Squares near nothing, the distance from a tenth on.
double robust(double log_ratio) {
  constexpr double kWidth = 0.1;
  const double scaled = log_ratio / kWidth;
  return 2 * kWidth * kWidth * (std::sqrt(1 + scaled * scaled) - 1);
}

double loss_of(const MeasuredSteps& steps) {
  double sum = 0;
  for (const MeasuredStep& each : steps) { sum += robust(std::log(seconds(each.simulated) / seconds(each.measured))); }
  return sum / static_cast<double>(steps.size());
}

/// Steps of `judged`, by a fit on the others.
void judge(const MeasuredSteps& others, MeasuredSteps& judged, const ComputeProfile& start,
           const ComputeFitSettings& settings) {
  MeasuredSteps fitted = others;
  simulate(judged, fit_compute(fitted, start, settings).profile);
}

}  // namespace

std::vector<Figure> compute_figures(Precision precision) {
  const bool narrow = precision == Precision::fp8 || precision == Precision::fp4;
  const auto products = [=](ComputeProfile& profile) -> ProductEfficiency& {
    return narrow ? profile.narrow.try_emplace(precision, profile.gemm).first->second : profile.gemm;
  };
  return {figure("gemm.share", 0.2, 1, [=](ComputeProfile& p) -> double& { return products(p).share; }),
          figure("gemm.shape", 20, 4000, [=](ComputeProfile& p) -> double& { return products(p).shape; }),
          figure("attention", 0.05, 0.9, [](ComputeProfile& p) -> double& { return p.attention; }),
          figure("memory", 0.2, 1, [](ComputeProfile& p) -> double& { return p.memory; }),
          figure("spread", 0.0005, 0.03, [](ComputeProfile& p) -> double& { return p.spread; }),
          figure("interference", 0.001, 0.5, [](ComputeProfile& p) -> double& { return p.interference; })};
}

ComputeFit fit_compute(MeasuredSteps& steps, const ComputeProfile& start, const ComputeFitSettings& settings) {
  require(!steps.empty(), "nothing to fit");
  std::vector<Figure> figures = compute_figures(steps.front().step->setup().plan.precision);
  if (!settings.free.empty()) {
    std::erase_if(figures, [&](const Figure& each) {
      return std::count(settings.free.begin(), settings.free.end(), each.name) == 0;
    });
  }
  ComputeFit fit{start, {}, 0};
  std::vector<SearchRange> ranges;
  for (const Figure& each : figures) {
    ranges.push_back({std::clamp(each.get(start), each.least, each.most), each.least, each.most});
    fit.free.push_back(each.name);
  }
  const auto set = [&](const std::vector<double>& values) {
    for (std::size_t i = 0; i < figures.size(); ++i) { figures[i].set(fit.profile, values[i]); }
    simulate(steps, fit.profile);
    return loss_of(steps);
  };
  const auto error = [&](const std::vector<double>& values) {
    double pull = 0;
    for (std::size_t i = 0; i < values.size(); ++i) { pull += std::pow(std::log(values[i] / ranges[i].start), 2); }
    return set(values) + settings.pull * 1e-2 * pull;
  };
  fit.loss = set(least_error(ranges, 1.15, settings.evaluations, error, SearchMethod::quadratic));
  return fit;
}

MeasuredSteps hold_out_rows(const MeasuredSteps& steps, const ComputeProfile& start,
                            const ComputeFitSettings& settings) {
  MeasuredSteps result;
  for (const std::size_t parity : {0U, 1U}) {
    MeasuredSteps others;
    MeasuredSteps judged;
    for (std::size_t i = 0; i < steps.size(); ++i) { (i % 2 == parity ? judged : others).push_back(steps[i]); }
    if (others.empty() || judged.empty()) { return {}; }
    judge(others, judged, start, settings);
    result.insert(result.end(), judged.begin(), judged.end());
  }
  return result;
}

MeasuredSteps hold_out_models(const MeasuredSteps& steps, const ComputeProfile& start,
                              const ComputeFitSettings& settings) {
  std::set<std::string> models;
  for (const MeasuredStep& each : steps) { models.insert(each.model); }
  MeasuredSteps result;
  if (models.size() < 2) { return result; }
  for (const std::string& model : models) {
    MeasuredSteps others;
    MeasuredSteps judged;
    for (const MeasuredStep& each : steps) { (each.model == model ? judged : others).push_back(each); }
    judge(others, judged, start, settings);
    result.insert(result.end(), judged.begin(), judged.end());
  }
  return result;
}

MeasuredSteps anchored_series(const MeasuredSteps& steps) {
  std::map<std::string, MeasuredSteps> series;
  for (const MeasuredStep& each : steps) {
    const TrainingSetup& setup = each.step->setup();
    const ParallelPlan& plan = setup.plan;
    std::string key = fmt::format("{} {} {} {} {} {} {} {}", each.table, each.model, setup.layers.size(), plan.tensor,
                                  plan.pipeline, plan.context, plan.expert, plan.micro_batches());
    key += each.name.substr(each.name.rfind(',') == std::string::npos ? 0 : each.name.rfind(','));  // a release
    series[key].push_back(each);
  }
  MeasuredSteps result;
  for (auto& [key, members] : series) {
    std::stable_sort(members.begin(), members.end(),
                     [](const MeasuredStep& a, const MeasuredStep& b) { return a.gpus < b.gpus; });
    const double scale = seconds(members.front().measured) / seconds(members.front().simulated);
    for (MeasuredStep& each : members) {
      if (each.gpus == members.front().gpus) { continue; }
      each.simulated = Time{static_cast<std::int64_t>(static_cast<double>(each.simulated.count()) * scale)};
      result.push_back(each);
    }
  }
  return result;
}

}  // namespace athanor
