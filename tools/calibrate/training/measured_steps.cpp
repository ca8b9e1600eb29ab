#include "tools/calibrate/training/measured_steps.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "models/experiments/training.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/percentile.hpp"
#include "tools/calibrate/anchors/unit_slip.hpp"
#include "tools/cli/on_processors.hpp"

namespace athanor {

namespace {

bool alike(const Kernel& a, const Kernel& b) {
  return a.kind == b.kind && a.precision == b.precision && a.count == b.count && a.m == b.m && a.n == b.n &&
         a.k == b.k && a.filling == b.filling && a.unaligned == b.unaligned && a.launches == b.launches &&
         a.flops == b.flops && a.bytes == b.bytes;
}

double stragglers(const ComputeProfile& profile, double gpus) {
  return 1 + profile.straggler_growth * straggler_doublings(gpus);
}

}  // namespace

std::string MeasuredStep::table_name() const { return std::filesystem::path(table).stem().string(); }

double MeasuredStep::error() const { return std::abs(seconds(simulated.time) / seconds(measured) - 1); }

MeasuredStep measured_step(const std::string& table, const Case& training, Time measured) {
  const auto* experiment = training.as<TrainingExperiment>();
  require(experiment != nullptr, "a case that trains");
  CollectiveTimer timer(experiment->pricing(training.platform, {}));
  const TrainingSetup& setup = experiment->training().setup;
  MeasuredStep step{table,
                    training.name,
                    experiment->training().measured_with,
                    setup.model.name,
                    setup.plan.ranks(),
                    measured,
                    std::make_shared<const PreparedStep>(setup, timer),
                    std::make_shared<const StepKernels>(setup),
                    {}};
  if (step.with.software.empty()) { step.with.software = step.table_name(); }
  return step;
}

MeasuredSteps measured_steps(const std::vector<Scenario>& scenarios) {
  MeasuredSteps steps;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      const auto* experiment = each.as<TrainingExperiment>();
      if (experiment == nullptr || !experiment->training().measured) { continue; }
      steps.push_back(measured_step(scenario.path, each, *experiment->training().measured));
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

void simulate(MeasuredSteps& steps, const std::function<ComputeProfile(std::size_t step)>& profile_of, bool slowed) {
  on_processors(steps.size(),
                [&](std::size_t i) { steps[i].simulated = simulated(*steps[i].step, profile_of(i), slowed); });
}

void simulate(MeasuredSteps& steps, const ComputeProfile& profile, bool slowed) {
  simulate(
      steps, [&](std::size_t) { return profile; }, slowed);
}

void check_steps(MeasuredSteps steps) {
  ComputeProfile peak;
  peak.gemm = {.share = 1, .depth = 0};
  peak.attention = 1;
  peak.memory = 1;
  simulate(steps, peak);
  Problems problems;
  for (const MeasuredStep& each : steps) {
    constexpr double kUsual = 2.5;  // so many times what peaks allow
    constexpr double kRounding = 0.98;
    const double ratio = seconds(each.measured) / seconds(each.simulated.time);
    const std::string took = fmt::format("{} took {}", each.name, to_string(each.measured));
    if (const double slip = unit_slip(ratio / kUsual); slip != 1) {
      problems.add({"units",
                    fmt::format("{}: about {:g} times {} than such steps take", took, slip > 1 ? slip : 1 / slip,
                                slip > 1 ? "longer" : "shorter"),
                    {each.table, 0, 0, ""},
                    "say \"measured\" in its unit: \"12.5s\", \"830ms\""});
    } else if (ratio < kRounding) {
      problems.add({"faster-than-hardware",
                    fmt::format("{}, less than the {:.4g} s that its GPUs need at their peaks", took,
                                seconds(each.simulated.time)),
                    {each.table, 0, 0, ""},
                    "was it another model, batch, precision, number of GPUs or GPU?"});
    }
  }
  problems.throw_if_any();
}

StepErrors errors_of(const MeasuredSteps& steps) {
  std::vector<double> errors;
  for (const MeasuredStep& each : steps) { errors.push_back(each.error()); }
  std::sort(errors.begin(), errors.end());
  if (errors.empty()) { return {}; }
  return {percentile(errors, 50), percentile(errors, 90), errors.size()};
}

StepKernels::StepKernels(const TrainingSetup& setup) : gpu_(setup.gpu) {
  constexpr double kForwardAndBackward = 2;
  if (setup.plan.pipeline > 1) { passes_ = kForwardAndBackward * static_cast<double>(setup.layers.size()); }
  if (setup.model.transformer) {
    add_transformer(setup);
    return;
  }
  const double recomputed = setup.plan.recompute == Recompute::full ? 1 : 0;
  for (const PlainLayer& layer : setup.model.layers) { add(plain_layer_work(layer, setup.plan), 1, recomputed); }
}

void StepKernels::add(const Kernels& kernels, double times) {
  for (const Kernel& kernel : kernels) {
    const auto is = [&](const Counted& each) { return alike(each.kernel, kernel); };
    const auto found = std::find_if(kernels_.begin(), kernels_.end(), is);
    if (found == kernels_.end()) {
      kernels_.push_back({kernel, times});
    } else {
      found->times += times;
    }
  }
}

void StepKernels::add(const PhasedKernels& work, double times, double recomputed) {
  add(work.forward, times);
  add(work.backward_input, times);
  add(work.backward_weight, times);
  if (recomputed > 0) { add(work.recompute, times * recomputed); }
}

void StepKernels::add_transformer(const TrainingSetup& setup) {
  const Transformer& model = *setup.model.transformer;
  const ParallelPlan& plan = setup.plan;
  const bool some = plan.recompute == Recompute::full && plan.recompute_layers > 0;
  const double chosen = static_cast<double>(plan.recompute_layers) * static_cast<double>(setup.layers.size());
  const double recomputed = some ? std::min(1.0, chosen / model.layers) : 1;
  const auto add_layer = [&](const LayerWork& work, double times) {
    for (const PhasedKernels* part :
         {&work.before_attention, &work.attention, &work.before_mlp, &work.mlp, &work.shared, &work.after_mlp}) {
      add(*part, times, recomputed);
    }
  };
  std::map<std::pair<bool, std::uint32_t>, std::pair<std::uint32_t, double>> kinds;  // a layer of each, how many
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    ++kinds.try_emplace({has_experts(model, layer), window_of(model, layer)}, layer, 0.0).first->second.second;
  }
  for (const auto& [kind, layers] : kinds) { add_layer(layer_work(model, plan, layers.first), layers.second); }
  if (model.next_token_layers > 0) { add_layer(next_token_work(model, plan), model.next_token_layers); }
  add(embedding_work(model, plan), 1, 0);
  add(output_norm_work(model, plan), 1, 0);
  add(output_work(model, plan), 1.0 + model.next_token_layers, 0);
}

double StepKernels::seconds(const ComputeProfile& profile) const {
  double sum = passes_ * athanor::seconds(profile.pass_overhead);
  for (const Counted& each : kernels_) { sum += each.times * athanor::seconds(time_of(each.kernel, gpu_, profile)); }
  return sum;
}

double estimated_seconds(const StepKernels& kernels, const SimulatedStep& simulated, double gpus,
                         const ComputeProfile& profile, const ComputeProfile& other) {
  const double longer = kernels.seconds(other) / kernels.seconds(profile);
  const double slowed = simulated.slowed * (other.interference - profile.interference);
  const double share = simulated.exposed + (1 - simulated.exposed) * longer + slowed;
  return seconds(simulated.time) * share * stragglers(other, gpus) / stragglers(profile, gpus);
}

}  // namespace athanor
