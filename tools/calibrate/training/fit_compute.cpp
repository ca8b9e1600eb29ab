#include "tools/calibrate/training/fit_compute.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/check.hpp"
#include "sim/error.hpp"

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

constexpr const char* kPassOverhead = "pass_overhead";

Precision precision_of(const MeasuredSteps& steps) { return steps.front().step->setup().plan.precision; }

/// Of each pass of a pipeline, in us.
Figure pass_overhead() {
  constexpr double kMicrosecond = 1e6;  // in ps
  return {
      kPassOverhead,
      1,
      3000,
      false,
      [](const ComputeProfile& profile) { return microseconds(profile.pass_overhead); },
      [](ComputeProfile& profile, double value) { profile.pass_overhead = Time{std::llround(value * kMicrosecond)}; }};
}

/// `seconds_of`: what each step takes.
template <class SecondsOf>
double loss_of(const MeasuredSteps& steps, const SecondsOf& seconds_of) {
  double sum = 0;
  for (const MeasuredStep& each : steps) { sum += robust_loss(seconds_of(each) / seconds(each.measured)); }
  return sum / static_cast<double>(steps.size());
}

/// Steps of pipelines do.
bool tell_pass_overhead(const MeasuredSteps& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const MeasuredStep& each) { return each.step->setup().plan.pipeline > 1; });
}

/// The figures that may change, from a start on, and how far they went from there.
class Search {
 public:
  Search(const MeasuredSteps& steps, const ComputeProfile& start, const ComputeFitSettings& settings)
      : settings_(settings), start_(start), figures_(compute_figures(precision_of(steps))) {
    if (!tell_pass_overhead(steps)) {
      std::erase_if(figures_, [](const Figure& each) { return each.name == kPassOverhead; });
    }
    if (!settings.free.empty()) {
      std::erase_if(figures_, [&](const Figure& each) {
        return std::count(settings.free.begin(), settings.free.end(), each.name) == 0;
      });
    }
    for (const Figure& each : figures_) {
      // Of what the start takes for nothing it does not tell how much there is of it, and pulls to nothing.
      const double from = each.get(start) > 0 ? each.get(start) : std::sqrt(each.least * each.most);
      ranges_.push_back({std::clamp(from, each.least, each.most), each.least, each.most});
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Figure& each : figures_) { names.push_back(each.name); }
    return names;
  }
  bool frees(const std::string& name) const {
    return std::any_of(figures_.begin(), figures_.end(), [&](const Figure& each) { return each.name == name; });
  }
  double pull(const ComputeProfile& profile) const {
    double sum = 0;
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      if (figures_[i].get(start_) <= 0) { continue; }
      sum += std::pow(std::log(figures_[i].get(profile) / ranges_[i].start), 2);
    }
    return settings_.pull * 1e-2 * sum;
  }

  /// Half the way from one to the other, on the logarithms.
  ComputeProfile between(const ComputeProfile& one, const ComputeProfile& other) const {
    ComputeProfile profile = one;
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      const double from = std::max(figures_[i].get(one), ranges_[i].least);
      figures_[i].set(profile, std::sqrt(from * figures_[i].get(other)));
    }
    return profile;
  }

  /// By estimates from steps that were simulated with `with`.
  ComputeProfile best(const MeasuredSteps& steps, const ComputeProfile& with) const {
    if (figures_.empty()) { return start_; }
    const auto error = [&](const std::vector<double>& values) {
      const ComputeProfile profile = at(values);
      return pull(profile) + loss_of(steps, [&](const MeasuredStep& each) {
               return estimated_seconds(*each.kernels, each.simulated, each.gpus, with, profile);
             });
    };
    return at(least_error(ranges_, 1.15, settings_.evaluations, error));
  }

 private:
  ComputeProfile at(const std::vector<double>& values) const {
    ComputeProfile profile = start_;
    for (std::size_t i = 0; i < figures_.size(); ++i) { figures_[i].set(profile, values[i]); }
    return profile;
  }

  const ComputeFitSettings& settings_;
  ComputeProfile start_;
  std::vector<Figure> figures_;
  std::vector<SearchRange> ranges_;
};

/// Steps of `judged`, by a fit on the others, which were simulated with `with`.
void judge(const MeasuredSteps& others, MeasuredSteps& judged, const ComputeProfile& with, const ComputeProfile& start,
           const ComputeFitSettings& settings) {
  simulate(judged, Search(others, start, settings).best(others, with));
}

}  // namespace

std::vector<Figure> compute_figures(Precision precision) {
  const bool narrow = precision == Precision::fp8 || precision == Precision::fp4;
  const auto products = [=](ComputeProfile& profile) -> ProductEfficiency& {
    return narrow ? profile.narrow.try_emplace(precision, profile.gemm).first->second : profile.gemm;
  };
  return {figure("gemm.share", 0.2, 1, [=](ComputeProfile& p) -> double& { return products(p).share; }),
          figure("gemm.depth", 20, 4000, [=](ComputeProfile& p) -> double& { return products(p).depth; }),
          figure("attention", 0.05, 0.9, [](ComputeProfile& p) -> double& { return p.attention; }),
          figure("memory", 0.2, 1, [](ComputeProfile& p) -> double& { return p.memory; }),
          figure("straggler_growth", 0.0005, 0.03, [](ComputeProfile& p) -> double& { return p.straggler_growth; }),
          figure("interference", 0.01, 2, [](ComputeProfile& p) -> double& { return p.interference; }),
          pass_overhead()};
}

ComputeFit fit_compute(MeasuredSteps& steps, const ComputeProfile& start, const ComputeFitSettings& settings) {
  require(!steps.empty(), "nothing to fit");
  if (std::count(settings.free.begin(), settings.free.end(), kPassOverhead) > 0 && !tell_pass_overhead(steps)) {
    throw UsageError(
        "calibrate: --free: steps tell pass_overhead where they run on a pipeline, and none of these does");
  }
  const Search search(steps, start, settings);
  const bool slowed = search.frees("interference");
  const auto loss = [&](const ComputeProfile& profile) {
    return search.pull(profile) + loss_of(steps, [](const MeasuredStep& each) { return seconds(each.simulated.time); });
  };
  simulate(steps, start, slowed);
  ComputeFit fit{start, search.names(), loss(start)};
  MeasuredSteps simulated = steps;
  ComputeProfile next = search.best(simulated, fit.profile);
  for (int round = 0; round < settings.rounds; ++round) {
    simulate(steps, next, slowed);
    const double found = loss(next);
    if (found >= fit.loss) {  // too far for the estimates
      next = search.between(fit.profile, next);
      continue;
    }
    const bool settled = found > 0.99 * fit.loss;
    fit.profile = next;
    fit.loss = found;
    simulated = steps;
    if (settled) { break; }
    next = search.best(simulated, fit.profile);
  }
  steps = simulated;
  return fit;
}

MeasuredSteps hold_out_rows(const MeasuredSteps& steps, const ComputeProfile& with, const ComputeProfile& start,
                            const ComputeFitSettings& settings) {
  MeasuredSteps result;
  for (const std::size_t parity : {0U, 1U}) {
    MeasuredSteps others;
    MeasuredSteps judged;
    for (std::size_t i = 0; i < steps.size(); ++i) { (i % 2 == parity ? judged : others).push_back(steps[i]); }
    if (others.empty() || judged.empty()) { return {}; }
    judge(others, judged, with, start, settings);
    result.insert(result.end(), judged.begin(), judged.end());
  }
  return result;
}

MeasuredSteps hold_out_models(const MeasuredSteps& steps, const ComputeProfile& with, const ComputeProfile& start,
                              const ComputeFitSettings& settings) {
  std::set<std::string> models;
  for (const MeasuredStep& each : steps) { models.insert(each.model); }
  MeasuredSteps result;
  if (models.size() < 2) { return result; }
  for (const std::string& model : models) {
    MeasuredSteps others;
    MeasuredSteps judged;
    for (const MeasuredStep& each : steps) { (each.model == model ? judged : others).push_back(each); }
    judge(others, judged, with, start, settings);
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
    const double scale = seconds(members.front().measured) / seconds(members.front().simulated.time);
    for (MeasuredStep& each : members) {
      if (each.gpus == members.front().gpus) { continue; }
      each.simulated.time = Time{std::llround(static_cast<double>(each.simulated.time.count()) * scale)};
      result.push_back(each);
    }
  }
  return result;
}

}  // namespace athanor
