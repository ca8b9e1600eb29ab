#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/experiments/interval.hpp"
#include "models/experiments/scenario/software_section.hpp"
#include "models/experiments/training.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/anchors/unit_slip.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/training/compute_files.hpp"
#include "tools/calibrate/training/fit_compute.hpp"
#include "tools/calibrate/training/step_anchor.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

namespace {

using Json = JsonValue;
using FittedFigure = FittedCost<ComputeProfile>;

MeasuredStep step_of(const CalibrateOptions& options, const Scenario& scenario) {
  const Case& only = scenario.cases.front();
  if (only.as<TrainingExperiment>() == nullptr) {
    throw UsageError(fmt::format(
        "calibrate: {}: --step is of a training, and this simulates none; times of a collective are --row SIZE=TIME",
        scenario.path));
  }
  if (*options.step <= Time::zero()) { throw UsageError("calibrate: --step is more than 0 s"); }
  MeasuredStep step = measured_step(scenario.path, only, *options.step);
  step.name = "--step";  // messages are about what was given
  return step;
}

/// The one that moves: --free, or what the largest of products reach.
FittedFigure figure_of(const CalibrateOptions& options, Precision precision) {
  const std::vector<std::string> wanted = options.free.value_or(std::vector<std::string>{"gemm.share"});
  if (wanted.size() != 1) { throw UsageError("calibrate: --free: one step tells one figure; name one"); }
  const std::vector<FittedFigure> all = compute_figures(precision);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const FittedFigure& each) { return each.name == wanted[0]; });
  if (found != all.end()) { return *found; }
  throw UsageError(fmt::format("calibrate: --free: there is no figure '{}'", wanted[0]));
}

Problem problem_of(const MeasuredStep& step, std::string code, std::string message, std::string hint) {
  return {std::move(code), std::move(message), {step.table, 0, 0, ""}, std::move(hint)};
}

void check_units(const MeasuredStep& step) {
  const double slip = unit_slip(seconds(step.measured) / seconds(step.simulated.time));
  if (slip == 1) { return; }
  const Time meant{std::llround(static_cast<double>(step.measured.count()) / slip)};
  throw ScenarioError(problem_of(
      step, "units",
      fmt::format("--step {}: a step is expected to take {}", written(step.measured), to_string(step.simulated.time)),
      fmt::format("is it perhaps {}?", to_string(meant))));
}

/// What no figure within its bounds meets is not fitted silently.
void check_met(const MeasuredStep& step, double allowed, const std::string& figures) {
  if (step.error() < allowed) { return; }
  const bool fast = step.measured < step.simulated.time;
  throw ScenarioError(problem_of(
      step, fast ? "faster-than-hardware" : "step-not-met",
      fmt::format("--step {}: with {} the nearest is {}", written(step.measured), figures,
                  to_string(step.simulated.time)),
      fast ? "is it of this model, batch, precision and number of GPUs?"
           : "is it of this model and batch? A step that waits for something else tells nothing of computing"));
}

/// What needs figures that no software was found to have is of something else.
void check_usual(const MeasuredStep& step, double deviations) {
  constexpr double kFarthest = 3;
  if (deviations <= kFarthest) { return; }
  throw ScenarioError(
      problem_of(step, "step-not-met",
                 fmt::format("--step {}: figures of computing would have to be {:.1f} standard deviations from what is "
                             "usual of software",
                             written(step.measured), deviations),
                 "is it of this model, batch, precision and number of GPUs? A step that waits for something else tells "
                 "nothing of computing"));
}

std::string line(const char* what, const std::string& before, const std::string& after) {
  return fmt::format("# {:<24} {:>14} {:>14}\n", what, before, after);
}

std::string milliseconds(Time time) { return fmt::format("{:.2f} ms", seconds(time) * 1e3); }

Json profile_json(const CalibrateOptions& options, const ComputeProfile& found, const std::string& beginning,
                  const MeasuredStep& step) {
  const TrainingSetup& setup = step.step->setup();
  ComputeProfile profile = in_four_digits(found);
  profile.name = profile_name(options);
  profile.description = fmt::format("{} on {}, by one step of {} on {} GPUs, which took {}", name(setup.plan.precision),
                                    setup.gpu.name, step.model, step.gpus, to_string(step.measured));
  profile.source = fmt::format("athanor calibrate --step, {}, {}, beginning with {}", calibration_date(),
                               calibration_versions(), beginning);
  profile.fitted = {{setup.gpu.name}, {setup.plan.precision}, {}, {step.model}, 1};
  return json_of(profile, Detail::complete);
}

/// What of two profiles differs, in the words of compute_figures().
std::string moved(const ComputeProfile& before, const ComputeProfile& after, Precision precision) {
  constexpr double kNothing = 0.002;
  std::string text;
  for (const FittedFigure& each : compute_figures(precision)) {
    const double from = each.get(before);
    const double to = each.get(after);
    if (from == to || (from > 0 && std::abs(std::log(to / from)) < kNothing)) { continue; }
    text += line(each.name.c_str(), fmt::format("{:.4g}", from), fmt::format("{:.4g}", to));
  }
  return text;
}

/// The one figure of --free until the step takes as long, from --profile or the scenario's own on.
ComputeProfile fitted(const CalibrateOptions& options, MeasuredSteps& steps, const ComputeProfile& start) {
  const FittedFigure figure = figure_of(options, steps.front().step->setup().plan.precision);
  ComputeFitSettings settings;
  settings.free = {figure.name};
  settings.pull = 0;  // the step tells it
  const ComputeFit fit = fit_compute(steps, start, settings);
  constexpr double kMet = 0.01;
  check_met(steps.front(), kMet,
            fmt::format("{} from {:g} to {:g}, which GPUs have,", figure.name, figure.least, figure.most));
  return fit.profile;
}

/// All figures that a pool expects, each as far as the step tells it.
ComputeProfile anchored(const CalibrateOptions& options, MeasuredSteps& steps) {
  const TrainingSetup& setup = steps.front().step->setup();
  PoolCache pools;
  const auto pool = pools.steps(options.common.library);
  require(pool != nullptr, "what a pool expects comes from the library");
  ComputeParts parts = compute_parts(setup.gpu, setup.plan.precision, setup.model);
  if (setup.framework.framework) { parts.software = setup.framework.framework->measured_as; }
  const AnchoredCompute found = athanor::anchored(steps, *pool, parts);
  check_usual(steps.front(), found.deviations);
  constexpr double kMet = 0.03;  // the pool holds against what is far from all that was measured
  check_met(steps.front(), kMet, "figures of computing as far from what is usual as software was found to be");
  return found.profile;
}

/// Of steps by a profile of these GPUs, before anything of their software was measured and with one step of it; "": the
/// library knows of no errors.
std::string interval_line(const CalibrateOptions& options) {
  PoolCache pools;
  const auto pool = pools.steps(options.common.library);
  const StepError* before = pool ? pool->error_of(StepKnowledge::nothing) : nullptr;
  const StepError* after = pool ? pool->error_of(StepKnowledge::one_step) : nullptr;
  if (before == nullptr || after == nullptr) { return ""; }
  return line("interval (80 %)", interval_text(before->low, before->high), interval_text(after->low, after->high));
}

}  // namespace

ExitCode calibrate_on_step(const CalibrateOptions& options, const Streams& streams) {
  check_writable(*options.output);
  const Scenario scenario = scenario_of_one_case(options);
  Progress progress(streams, !options.common.quiet);
  progress.show("calibrating: collectives");
  MeasuredSteps steps{step_of(options, scenario)};
  const TrainingSetup& setup = steps.front().step->setup();
  const ComputeProfile start =
      options.profile ? named_compute_profile(options.common.library, *options.profile) : setup.compute;
  check_outputs(options.common);
  static_cast<void>(figure_of(options, setup.plan.precision));  // refuses what is none
  progress.show("calibrating: the step");
  simulate(steps, start);
  check_units(steps.front());
  check_steps(steps);
  const Time before = steps.front().simulated.time;
  const bool by_pool = start.pooled && !options.free;
  const ComputeProfile found = by_pool ? anchored(options, steps) : fitted(options, steps, start);
  progress.clear();
  const MeasuredStep& step = steps.front();
  write_profile(options, streams, profile_json(options, found, start.name, step),
                line("", "before", "after") + moved(start, found, setup.plan.precision) +
                    line("step", milliseconds(before), milliseconds(step.simulated.time)) + interval_line(options) +
                    fmt::format("# measured                 {:>29}\n", milliseconds(step.measured)));
  return ExitCode::ok;
}

}  // namespace athanor
