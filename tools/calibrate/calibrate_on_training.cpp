#include <algorithm>

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/words.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/training/compute_files.hpp"
#include "tools/calibrate/training/fit_compute.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

MeasuredSteps steps_of(const CalibrateOptions& options) {
  MeasuredSteps steps =
      measured_steps(read_scenarios(options.tables, options.common.library, changes_of(options.scenario)));
  if (steps.empty()) {
    throw UsageError("calibrate: --tables: no case of these scenarios trains and has \"measured\"");
  }
  check_steps(steps);
  const auto precision = [](const MeasuredStep& each) { return each.step->setup().plan.precision; };
  const bool alike = std::all_of(steps.begin(), steps.end(), [&](const MeasuredStep& each) {
    return precision(each) == precision(steps.front()) &&
           each.step->setup().gpu.name == steps.front().step->setup().gpu.name;
  });
  if (!alike) {
    throw UsageError("calibrate: --tables: a compute profile is of one GPU and one precision; name others");
  }
  return steps;
}

/// A file, or a name of the library; absent: that of the first case.
ComputeProfile start_of(const CalibrateOptions& options, const MeasuredSteps& steps) {
  if (!options.profile) { return steps.front().step->setup().compute; }
  return named_compute_profile(options.common.library, *options.profile);
}

ComputeFitSettings settings_of(const CalibrateOptions& options, Precision precision) {
  ComputeFitSettings settings;
  if (options.quick) { settings.rounds = 2; }
  if (!options.free) { return settings; }
  settings.free = *options.free;
  std::vector<std::string> known;
  for (const auto& each : compute_figures(precision)) { known.push_back(each.name); }
  for (const std::string& word : settings.free) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw UsageError(
          fmt::format("calibrate: --free: there is no figure '{}'; choose from {}", word, joined(known, ", ")));
    }
  }
  return settings;
}

Json errors_json(const MeasuredSteps& steps) {
  const StepErrors errors = errors_of(steps);
  return {{"steps", errors.steps}, {"median", errors.median}, {"p90", errors.p90}};
}

std::string errors_line(const char* what, const MeasuredSteps& steps) {
  const StepErrors errors = errors_of(steps);
  if (errors.steps == 0) { return ""; }
  return fmt::format("# {:<18} {:>4} steps, |error| median {:5.1f} %, 90th percentile {:5.1f} %\n", what, errors.steps,
                     errors.median * 100, errors.p90 * 100);
}

Json profile_json(const CalibrateOptions& options, const ComputeFit& fit, const MeasuredSteps& steps,
                  const ComputeProfile& start) {
  const TrainingSetup& setup = steps.front().step->setup();
  ComputeProfile profile = in_four_digits(fit.profile);
  profile.name = profile_name(options);
  profile.description =
      fmt::format("{} on {}, as measured in {} steps", name(setup.plan.precision), setup.gpu.name, steps.size());
  profile.source = fmt::format("athanor calibrate --backend training, beginning with {}; found: {}", start.name,
                               joined(fit.free, ", "));
  profile.fitted = {{setup.gpu.name}, {setup.plan.precision}, {}, {}, static_cast<std::uint32_t>(steps.size())};
  const auto add = [](std::vector<std::string>& list, const std::string& word) {
    if (std::count(list.begin(), list.end(), word) == 0) { list.push_back(word); }
  };
  for (const MeasuredStep& each : steps) {
    add(profile.fitted.measurements, each.table_name());
    add(profile.fitted.models, each.model);
    add(profile.fitted.software, text_of(each.with));
    if (!each.with.framework.empty()) { add(profile.fitted.frameworks, each.with.framework); }
  }
  return json_of(profile, Detail::complete);
}

}  // namespace

ExitCode calibrate_on_training(const CalibrateOptions& options, const Streams& streams) {
  check_writable(*options.output);
  Progress progress(streams, !options.common.quiet);
  progress.show("calibrating: collectives");
  MeasuredSteps steps = steps_of(options);
  const ComputeProfile start = start_of(options, steps);
  const ComputeFitSettings settings = settings_of(options, steps.front().step->setup().plan.precision);
  progress.show("calibrating: all steps");
  const ComputeFit fit = fit_compute(steps, start, settings);
  std::string summary = errors_line("fitted", steps) + errors_line("scaling, anchored", anchored_series(steps));
  Json errors = {{"fitted", errors_json(steps)}, {"scaling", errors_json(anchored_series(steps))}};
  if (holds_out(options, "rows", {"rows", "models"})) {
    progress.show("calibrating: without every other step");
    const MeasuredSteps held = hold_out_rows(steps, fit.profile, start, settings);
    summary += errors_line("rows held out", held);
    errors["rows_held_out"] = errors_json(held);
  }
  if (holds_out(options, "models", {"rows", "models"})) {
    progress.show("calibrating: without one model");
    const MeasuredSteps held = hold_out_models(steps, fit.profile, start, settings);
    summary += errors_line("model held out", held);
    errors["model_held_out"] = errors_json(held);
  }
  progress.clear();
  Json profile = profile_json(options, fit, steps, start);
  profile["fitted"]["errors"] = errors;
  write_profile(options, streams, profile, summary);
  return ExitCode::ok;
}

}  // namespace athanor
