#include "tools/calibrate/training/measured_steps.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <thread>

#include "models/experiments/training.hpp"
#include "sim/percentile.hpp"

namespace athanor {

double MeasuredStep::error() const { return std::abs(seconds(simulated.time) / seconds(measured) - 1); }

MeasuredSteps measured_steps(const std::vector<Scenario>& scenarios) {
  MeasuredSteps steps;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      const auto* experiment = each.as<TrainingExperiment>();
      if (experiment == nullptr || !experiment->training().measured) { continue; }
      CollectiveTimer timer(experiment->pricing(each.platform, {}));
      const TrainingSetup& setup = experiment->training().setup;
      steps.push_back({scenario.path,
                       each.name,
                       setup.model.name,
                       setup.plan.ranks(),
                       *experiment->training().measured,
                       std::make_shared<const PreparedStep>(setup, timer),
                       std::make_shared<const StepKernels>(setup),
                       {}});
    }
  }
  return steps;
}

namespace {

SimulatedStep simulated(const PreparedStep& step, const ComputeProfile& profile, bool slowed) {
  WorkloadOptions options;
  options.critical_path = false;
  const StepResult result = step.run(profile, options);
  SimulatedStep simulated{result.time, result.shares.all_exposed(), 0};
  if (slowed) {
    constexpr double kMore = 0.1;
    ComputeProfile other = profile;
    other.interference += kMore;
    simulated.slowed = (seconds(step.run(other, options).time) / seconds(result.time) - 1) / kMore;
  }
  return simulated;
}

}  // namespace

void simulate(MeasuredSteps& steps, const ComputeProfile& profile, bool slowed) {
  const std::size_t parts = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::future<void>> running;
  for (std::size_t part = 0; part < parts; ++part) {
    running.push_back(std::async(std::launch::async, [&, part] {
      for (std::size_t i = part; i < steps.size(); i += parts) {
        steps[i].simulated = simulated(*steps[i].step, profile, slowed);
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
  return {percentile(errors, 50), percentile(errors, 90), errors.size()};
}

}  // namespace athanor
