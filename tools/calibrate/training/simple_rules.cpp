#include "tools/calibrate/training/simple_rules.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "sim/check.hpp"

namespace athanor {

namespace {

using Places = std::vector<std::size_t>;

/// That the step was measured at.
double utilization(const MeasuredStep& step) {
  const TrainingSetup& setup = step.step->setup();
  const double flops = model_flops(setup.model, setup.plan) * setup.plan.global_batch;
  return flops / seconds(step.measured) / step.gpus / peak_of(setup.gpu, setup.plan.precision);
}

/// How unlike two steps are in what MFU depends on most, as logarithms.
double distance(const MeasuredStep& a, const MeasuredStep& b) {
  const TrainingSetup& one = a.step->setup();
  const TrainingSetup& other = b.step->setup();
  return std::abs(std::log(parameters(one.model) / parameters(other.model))) +
         std::abs(std::log(static_cast<double>(a.gpus) / b.gpus)) +
         std::abs(std::log(static_cast<double>(one.plan.sequence) / other.plan.sequence));
}

Places that(const Places& some, const std::function<bool(std::size_t)>& holds) {
  Places result;
  for (const std::size_t i : some) {
    if (holds(i)) { result.push_back(i); }
  }
  return result;
}

/// The told steps from which a rule guesses one.
Places references(const PooledSteps& steps, SimpleRule rule, const Places& told, std::size_t judged) {
  const ComputeParts& own = steps.parts(judged);
  const Places table = that(told, [&](std::size_t i) { return steps.table(i) == steps.table(judged); });
  if (rule == SimpleRule::constant && !table.empty()) { return table; }
  const Places alike = that(
      told, [&](std::size_t i) { return steps.parts(i).gpu == own.gpu && steps.parts(i).precision == own.precision; });
  return alike.empty() ? told : alike;
}

}  // namespace

std::vector<double> guessed(const PooledSteps& steps, SimpleRule rule, const Places& told, const Places& judged) {
  require(!told.empty(), "a step from which others are guessed");
  const MeasuredSteps& all = steps.steps();
  std::vector<double> result(all.size(), std::numeric_limits<double>::quiet_NaN());
  for (const std::size_t i : judged) {
    const Places from = references(steps, rule, told, i);
    double logarithm = 0;
    if (rule == SimpleRule::constant) {
      for (const std::size_t j : from) {
        logarithm += std::log(utilization(all[j])) / static_cast<double>(from.size());
      }
    } else {
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t j : from) {
        const double apart = distance(all[i], all[j]);
        if (apart >= least) { continue; }
        least = apart;
        logarithm = std::log(utilization(all[j]));
      }
    }
    result[i] = std::log(utilization(all[i])) - logarithm;
  }
  return result;
}

}  // namespace athanor
