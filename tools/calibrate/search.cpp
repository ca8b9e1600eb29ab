#include "tools/calibrate/search.hpp"

#include <algorithm>
#include <memory>

#include <nlopt.h>

#include "sim/check.hpp"
#include "tools/cli/on_processors.hpp"

namespace athanor {

double robust_loss(double ratio) {
  constexpr double kWidth = 0.1;
  const double scaled = std::log(ratio) / kWidth;
  return 2 * kWidth * kWidth * (std::sqrt(1 + scaled * scaled) - 1);
}

namespace {

using Objective = std::function<double(const std::vector<double>&)>;

double objective(unsigned count, const double* at, double* /*gradient*/, void* error) {
  std::vector<double> values(count);
  std::transform(at, at + count, values.begin(), [](double logarithm) { return std::exp(logarithm); });
  return (*static_cast<const Objective*>(error))(values);
}

/// The simulated times of all of them, on as many threads as there are processors.
template <class Probes, class Simulate>
std::vector<Time> simulated(const Probes& probes, const Simulate& simulate) {
  std::vector<Time> times(probes.size());
  on_processors(probes.size(), [&](std::size_t i) { times[i] = simulate(probes[i]); });
  return times;
}

}  // namespace

std::vector<const TimedProbe*> fitted(const std::vector<TimedProbe>& probes) {
  std::vector<const TimedProbe*> result;
  for (const TimedProbe& each : probes) {
    if (each.probe.purpose == Probe::Purpose::fit) { result.push_back(&each); }
  }
  return result;
}

FitError error_of(const std::vector<TimedProbe>& probes, Probe::Purpose purpose) {
  std::vector<double> errors;
  for (const TimedProbe& each : probes) {
    if (each.probe.purpose != purpose) { continue; }
    errors.push_back(
        std::abs(static_cast<double>(each.simulated.count()) / static_cast<double>(each.measured.count()) - 1));
  }
  std::sort(errors.begin(), errors.end());
  return errors.empty() ? FitError{} : FitError{errors[errors.size() / 2], errors.back(), errors.size()};
}

std::vector<double> least_error(const std::vector<SearchRange>& ranges, double factor, int evaluations,
                                const Objective& error) {
  const auto count = static_cast<unsigned>(ranges.size());
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> method(nlopt_create(NLOPT_LN_SBPLX, count),
                                                                      &nlopt_destroy);
  std::vector<double> at;
  std::vector<double> least;
  std::vector<double> most;
  for (const SearchRange& range : ranges) {
    least.push_back(std::log(range.least));
    most.push_back(std::log(range.most));
    at.push_back(std::clamp(std::log(std::max(1e-300, range.start)), least.back(), most.back()));
  }
  nlopt_set_lower_bounds(method.get(), least.data());
  nlopt_set_upper_bounds(method.get(), most.data());
  nlopt_set_initial_step1(method.get(), std::log(factor));
  nlopt_set_min_objective(method.get(), &objective, const_cast<Objective*>(&error));
  nlopt_set_maxeval(method.get(), evaluations);
  nlopt_set_ftol_rel(method.get(), 1e-5);
  double found = 0;
  const nlopt_result result = nlopt_optimize(method.get(), at.data(), &found);
  require(result > 0 || result == NLOPT_ROUNDOFF_LIMITED, "the search for costs has failed");
  std::transform(at.begin(), at.end(), at.begin(), [](double logarithm) { return std::exp(logarithm); });
  return at;
}

double log_error(const std::vector<const TimedProbe*>& probes, const std::function<Time(const Probe&)>& simulate) {
  const std::vector<Time> times = simulated(probes, [&](const TimedProbe* each) { return simulate(each->probe); });
  double sum = 0;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    sum += std::abs(std::log(static_cast<double>(std::max<std::int64_t>(1, times[i].count())) /
                             static_cast<double>(probes[i]->measured.count())));
  }
  return sum / static_cast<double>(probes.size());
}

void simulate_all(std::vector<TimedProbe>& probes, const std::function<Time(const Probe&)>& simulate) {
  const std::vector<Time> times = simulated(probes, [&](const TimedProbe& each) { return simulate(each.probe); });
  for (std::size_t i = 0; i < probes.size(); ++i) { probes[i].simulated = times[i]; }
}

}  // namespace athanor
