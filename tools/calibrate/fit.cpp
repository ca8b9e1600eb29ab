#include "tools/calibrate/fit.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <thread>

#include <fmt/format.h>
#include <nlopt.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "tools/calibrate/parameters.hpp"
#include "tools/calibrate/timing.hpp"

namespace athanor {

namespace {

using Parameters = std::vector<CostParameter>;

/// Where the search begins: of the order of any present machine.
ThreadCosts first_guess(const FitSettings& settings) {
  ThreadCosts costs;
  costs.start = costs.lane = costs.turn = costs.port = Time{20'000};
  costs.primitive = Time{50'000};
  costs.remote_port = costs.notice = costs.remote_latency = Time{100'000};
  costs.meeting = Time{400'000};
  costs.patience = Time{20'000'000};
  costs.wake = Time{50'000'000};
  std::int64_t rate = 200'000'000'000;
  for (const Bytes size : settings.private_caches) {
    costs.caches.push_back({size, Bandwidth{rate}, false, Bandwidth{20'000'000'000}});
    rate /= 3;
  }
  costs.caches.push_back({Bytes{32 << 20}, Bandwidth{rate}, true, {}});
  costs.memory_rate = Bandwidth{10'000'000'000};
  return costs;
}

/// The simulated times of all of them, on as many threads as there are processors.
std::vector<Time> simulated(const std::vector<const TimedProbe*>& probes, const ThreadCosts& costs) {
  std::vector<Time> times(probes.size());
  const std::size_t parts = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::future<void>> running;
  for (std::size_t part = 0; part < parts; ++part) {
    running.push_back(std::async(std::launch::async, [&, part] {
      for (std::size_t i = part; i < probes.size(); i += parts) { times[i] = simulate(probes[i]->probe, costs); }
    }));
  }
  for (std::future<void>& each : running) { each.get(); }
  return times;
}

class Search {
 public:
  Search(std::vector<const TimedProbe*> probes, Parameters parameters, ThreadCosts& costs)
      : probes_(std::move(probes)), parameters_(std::move(parameters)), costs_(costs) {}

  /// Moves the costs to the least error that so many evaluations find, beginning with steps of that factor.
  void run(double factor, int evaluations) {
    if (probes_.empty()) { return; }
    const auto count = static_cast<unsigned>(parameters_.size());
    const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> method(nlopt_create(NLOPT_LN_SBPLX, count),
                                                                        &nlopt_destroy);
    std::vector<double> at, least, most;
    for (const CostParameter& parameter : parameters_) {
      least.push_back(std::log(parameter.least));
      most.push_back(std::log(parameter.most));
      at.push_back(std::clamp(std::log(std::max(1.0, parameter.get(costs_))), least.back(), most.back()));
    }
    nlopt_set_lower_bounds(method.get(), least.data());
    nlopt_set_upper_bounds(method.get(), most.data());
    nlopt_set_initial_step1(method.get(), std::log(factor));
    nlopt_set_min_objective(method.get(), &Search::objective, this);
    nlopt_set_maxeval(method.get(), evaluations);
    nlopt_set_ftol_rel(method.get(), 1e-5);
    double error = 0;
    const nlopt_result result = nlopt_optimize(method.get(), at.data(), &error);
    require(result > 0 || result == NLOPT_ROUNDOFF_LIMITED, "the search for costs has failed");
    set(at.data());
  }

 private:
  static double objective(unsigned /*count*/, const double* at, double* /*gradient*/, void* self) {
    return static_cast<Search*>(self)->error(at);
  }

  void set(const double* at) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) { parameters_[i].set(costs_, std::exp(at[i])); }
  }

  double error(const double* at) {
    set(at);
    const std::vector<Time> times = simulated(probes_, costs_);
    double sum = 0;
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      sum += std::abs(std::log(static_cast<double>(std::max<std::int64_t>(1, times[i].count())) /
                               static_cast<double>(probes_[i]->measured.count())));
    }
    return sum / static_cast<double>(probes_.size());
  }

  std::vector<const TimedProbe*> probes_;
  Parameters parameters_;
  ThreadCosts& costs_;
};

Parameters joined(Parameters first, const Parameters& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void refuse_implausible(const ThreadCosts& costs, const Parameters& parameters) {
  for (const CostParameter& parameter : parameters) {
    const double value = parameter.get(costs);
    const bool low = value <= parameter.least * 1.01 && !parameter.may_vanish;
    if (low || value >= parameter.most * 0.99) {
      throw SimulationError(
          "not-fitted", fmt::format("{} ends at the bound of what is plausible; measure again while nothing else runs",
                                    parameter.name));
    }
  }
}

}  // namespace

ThreadCosts fit_thread_costs(std::vector<TimedProbe>& probes, const FitSettings& settings) {
  ThreadCosts costs = first_guess(settings);
  const auto chosen = [&](auto wanted) {
    std::vector<const TimedProbe*> result;
    for (const TimedProbe& each : probes) {
      if (each.probe.purpose == Probe::Purpose::fit && wanted(each.probe)) { result.push_back(&each); }
    }
    return result;
  };
  const Parameters bytes = byte_parameters(costs.caches.size());
  const Parameters steps = step_parameters();
  Parameters all = joined(bytes, steps);
  settings.progress("rates of caches and memory");
  Search(chosen([](const Probe& probe) { return probe.schedule->roster().ranks == 1; }), bytes, costs)
      .run(2, settings.evaluations);
  settings.progress("steps on one processor");
  Search(chosen([](const Probe& probe) { return probe.workers == 1; }), all, costs).run(1.5, settings.evaluations);
  if (settings.processors > 1) {
    const Parameters couple = couple_parameters(settings.private_caches.size());
    settings.progress("several processors");
    Search(chosen([](const Probe& probe) { return probe.workers > 1 && probe.schedule->roster().ranks == 2; }), couple,
           costs)
        .run(2, settings.evaluations);
    all = joined(all, couple);
    settings.progress("all together");
    Search(chosen([](const Probe&) { return true; }), all, costs).run(1.2, settings.evaluations);
  }
  refuse_implausible(costs, all);
  std::vector<const TimedProbe*> every;
  for (const TimedProbe& each : probes) { every.push_back(&each); }
  const std::vector<Time> times = simulated(every, costs);
  for (std::size_t i = 0; i < probes.size(); ++i) { probes[i].simulated = times[i]; }
  return costs;
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

}  // namespace athanor
