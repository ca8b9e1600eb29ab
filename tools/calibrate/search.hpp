#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/time.hpp"
#include "sim/units.hpp"
#include "tools/calibrate/probes.hpp"

// What all fits share: costs of any kind, each a positive number, are searched for on a logarithmic scale.
namespace athanor {

/// What being off by this ratio costs a fit: squares of its logarithm near nothing, the distance from a tenth on.
double robust_loss(double ratio);

/// A probe and how long it took.
struct TimedProbe {
  Probe probe;
  Time measured;
  Time simulated;  ///< by the costs found
};

/// Of the probes that are told to the fit.
std::vector<const TimedProbe*> fitted(const std::vector<TimedProbe>& probes);

struct FitError {
  double median = 0;  ///< of |simulated / measured - 1|
  double worst = 0;
  std::size_t points = 0;
};
FitError error_of(const std::vector<TimedProbe>& probes, Probe::Purpose purpose);

/// One figure of costs that a fit may change, as a positive number: times in ps, rates in bytes per second, sizes in
/// bytes.
template <class Costs>
struct FittedCost {
  std::string name;  ///< "caches[1].rate"
  double least = 1;  ///< bounds that a plausible machine keeps
  double most = 1;
  bool may_vanish = false;  ///< at `least` it is as good as nothing, which is plausible
  std::function<double(const Costs&)> get;
  std::function<void(Costs&, double)> set;
};

template <class Costs>
std::vector<FittedCost<Costs>> joined(std::vector<FittedCost<Costs>> first,
                                      const std::vector<FittedCost<Costs>>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

constexpr double kNanosecond = 1e3;  ///< in ps, as times are fitted
constexpr double kGigabyte = 1e9;    ///< in bytes per second, as rates are fitted

/// Where a value begins and which bounds it keeps.
struct SearchRange {
  double start = 1;
  double least = 1;
  double most = 1;
};

/// The values of the least error that so many evaluations find, beginning with steps of that factor, on their
/// logarithms. Requires positive ranges.
std::vector<double> least_error(const std::vector<SearchRange>& ranges, double factor, int evaluations,
                                const std::function<double(const std::vector<double>&)>& error);

/// The mean |log(simulated / measured)|, which a few wild measurements hardly move. `simulate` is called on as many
/// threads as there are processors.
double log_error(const std::vector<const TimedProbe*>& probes, const std::function<Time(const Probe&)>& simulate);

/// Fills in `simulated` of all probes, on as many threads as there are processors.
void simulate_all(std::vector<TimedProbe>& probes, const std::function<Time(const Probe&)>& simulate);

/// Moves the costs to the least error over these probes; nothing where there are none. Returns the error.
template <class Costs>
double search(const std::vector<const TimedProbe*>& probes, const std::vector<FittedCost<Costs>>& parameters,
              Costs& costs, double factor, int evaluations,
              const std::function<Time(const Probe&, const Costs&)>& simulate) {
  if (probes.empty()) { return 0; }
  const auto set = [&](const std::vector<double>& values) {
    for (std::size_t i = 0; i < parameters.size(); ++i) { parameters[i].set(costs, values[i]); }
  };
  const auto error = [&](const std::vector<double>& values) {
    set(values);
    return log_error(probes, [&](const Probe& probe) { return simulate(probe, costs); });
  };
  std::vector<SearchRange> ranges;
  for (const FittedCost<Costs>& parameter : parameters) {
    ranges.push_back({parameter.get(costs), parameter.least, parameter.most});
  }
  const std::vector<double> found = least_error(ranges, factor, evaluations, error);
  return error(found);
}

/// Throws SimulationError("not-fitted") where a cost has ended at the bound of what is plausible, naming it: the
/// machine was not quiet, or is not one that the model describes.
template <class Costs>
void refuse_implausible(const Costs& costs, const std::vector<FittedCost<Costs>>& parameters) {
  for (const FittedCost<Costs>& parameter : parameters) {
    const double value = parameter.get(costs);
    const bool low = value <= parameter.least * 1.01 && !parameter.may_vanish;
    if (low || value >= parameter.most * 0.99) {
      throw SimulationError(
          "not-fitted", fmt::format("{} ends at the bound of what is plausible; measure again while nothing else runs",
                                    parameter.name));
    }
  }
}

}  // namespace athanor
