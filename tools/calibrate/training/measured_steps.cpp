#include "tools/calibrate/training/measured_steps.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <thread>

#include "tools/scenario/group_pricing.hpp"

namespace athanor {

namespace {

SimulationOptions options_of(const Case& scenario_case) {
  SimulationOptions options;
  options.level = scenario_case.level;
  options.packet = scenario_case.packet;
  options.queue_pairs = scenario_case.queue_pairs;
  return options;
}

double nearest_rank(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

double MeasuredStep::error() const { return std::abs(seconds(simulated) / seconds(measured) - 1); }

MeasuredSteps measured_steps(const std::vector<Scenario>& scenarios) {
  MeasuredSteps steps;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      if (!each.training || !each.training->measured) { continue; }
      CallPricer pricer(pricing_of(each, options_of(each)));
      const TrainingSetup& setup = each.training->setup;
      steps.push_back({scenario.path,
                       each.name,
                       setup.model.name,
                       setup.plan.ranks(),
                       *each.training->measured,
                       std::make_shared<const PreparedStep>(setup, pricer),
                       {}});
    }
  }
  return steps;
}

void simulate(MeasuredSteps& steps, const ComputeProfile& profile) {
  WorkloadOptions options;
  options.critical_path = false;
  const std::size_t parts = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::future<void>> running;
  for (std::size_t part = 0; part < parts; ++part) {
    running.push_back(std::async(std::launch::async, [&, part] {
      for (std::size_t i = part; i < steps.size(); i += parts) {
        steps[i].simulated = steps[i].step->run(profile, options).time;
      }
    }));
  }
  for (std::future<void>& each : running) { each.get(); }
}

StepErrors errors_of(const MeasuredSteps& steps) {
  std::vector<double> errors;
  for (const MeasuredStep& each : steps) { errors.push_back(each.error()); }
  std::sort(errors.begin(), errors.end());
  if (errors.empty()) { return {}; }
  return {nearest_rank(errors, 0.5), nearest_rank(errors, 0.9), errors.size()};
}

}  // namespace athanor
