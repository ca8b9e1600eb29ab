#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/core.h>

#include "sim/percentile.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/training/held_out_steps.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/cli/streams.hpp"
#include "tools/verify/plan_choice.hpp"

namespace athanor {

namespace {

constexpr std::array<const char*, kHeldOutSteps> kTitles{"fitted on it", "every other step held out",
                                                         "a model held out", "all but one step held out",
                                                         "all steps of a software held out"};

/// Of the steps that were judged: median and 90th percentile of the error's size.
std::string errors_line(const char* title, const std::vector<double>& residuals) {
  std::vector<double> errors;
  for (const double each : residuals) {
    if (!std::isnan(each)) { errors.push_back(std::abs(std::exp(each) - 1)); }
  }
  if (errors.empty()) { return ""; }
  std::sort(errors.begin(), errors.end());
  return fmt::format("# {:<36} {:>4} steps, |error| median {:5.1f} %, 90th percentile {:5.1f} %\n", title,
                     errors.size(), percentile(errors, 50) * 100, percentile(errors, 90) * 100);
}

/// Whether plans of one table for one training come out in the order in which they were measured.
std::string choice_line(const char* title, const PooledSteps& steps, const std::vector<double>& residuals) {
  std::map<std::string, std::vector<PlanTrial>> by_table;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (std::isnan(residuals[i])) { continue; }
    const MeasuredStep& step = steps.steps()[i];
    const double measured = seconds(step.measured);
    by_table[step.table].push_back(
        {step.name, step.with.release, &step.step->setup(), measured, measured * std::exp(residuals[i])});
  }
  std::vector<PlanChoice> choices;
  for (const auto& [table, trials] : by_table) {
    for (PlanChoice& each : plan_choices(trials)) { choices.push_back(std::move(each)); }
  }
  return choices.empty() ? "" : fmt::format("# {}\n{}", title, plan_choice_summary(choices));
}

std::vector<double> sizes_of_errors(const PooledSteps& steps, const std::string& table,
                                    const std::vector<double>& residuals) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (steps.table(i) == table && !std::isnan(residuals[i])) {
      errors.push_back(std::abs(std::exp(residuals[i]) - 1));
    }
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

/// By table, the median error of what was held out, and in brackets that of the better of the simple rules.
std::string table_lines(const PooledSteps& steps, const HeldOutStepResiduals& residuals) {
  std::vector<std::string> tables;
  for (std::size_t i = 0; i < steps.steps().size(); ++i) {
    if (std::count(tables.begin(), tables.end(), steps.table(i)) == 0) { tables.push_back(steps.table(i)); }
  }
  std::array<HeldOutStepResiduals, kSimpleRules> by_rules;
  for (std::size_t what = 1; what < kHeldOutSteps; ++what) {
    if (residuals.at(what).empty()) { continue; }
    for (std::size_t rule = 0; rule < kSimpleRules; ++rule) {
      by_rules.at(rule).at(what) = hold_out(steps, static_cast<SimpleRule>(rule), static_cast<HeldOutSteps>(what));
    }
  }
  std::string text =
      "# median |error| in %, by table: fitted, every other step, a model, all but one step, all of the software held "
      "out;\n# in brackets that of the better of two guesses, the mean MFU of what was told and that of the most "
      "similar "
      "step\n";
  for (const std::string& table : tables) {
    text += fmt::format("# {:<32}", table);
    for (std::size_t what = 0; what < kHeldOutSteps; ++what) {
      const std::vector<double> errors = sizes_of_errors(steps, table, residuals.at(what));
      text += errors.empty() ? fmt::format(" {:>6}", "-") : fmt::format(" {:>6.1f}", percentile(errors, 50) * 100);
      if (what == 0) { continue; }
      double best = 1e9;
      for (const HeldOutStepResiduals& each : by_rules) {
        const std::vector<double> guesses = sizes_of_errors(steps, table, each.at(what));
        if (!guesses.empty()) { best = std::min(best, percentile(guesses, 50)); }
      }
      text += best > 1e8 ? fmt::format(" {:<8}", "") : fmt::format(" {:<8}", fmt::format("({:.1f})", best * 100));
    }
    text += "\n";
  }
  for (std::size_t rule = 0; rule < kSimpleRules; ++rule) {
    for (std::size_t what = 1; what < kHeldOutSteps; ++what) {
      text += errors_line(fmt::format("{}: {}", rule == 0 ? "mean MFU" : "similar", kTitles.at(what)).c_str(),
                          by_rules.at(rule).at(what));
    }
  }
  return text;
}

std::string summary(const PooledSteps& steps, const HeldOutStepResiduals& residuals) {
  std::string text;
  for (std::size_t what = 0; what < kHeldOutSteps; ++what) {
    text += errors_line(kTitles.at(what), residuals.at(what));
    text += choice_line(kTitles.at(what), steps, residuals.at(what));
  }
  std::string coverages;
  for (const StepCoverage& each : step_coverage(steps, residuals)) {
    coverages += fmt::format("# known: {:<29} {:>5.0f} ({:.0f} %)\n", name(each.knowledge), each.share * 100,
                             each.median_width * 100);
  }
  const std::string head = "# steps within the interval of 80 %, in %, and its median width\n";
  return text + table_lines(steps, residuals) + (coverages.empty() ? "" : head + coverages);
}

HeldOutStepResiduals held_out(const CalibrateOptions& options, const PooledSteps& steps, const StepPoolFit& fit,
                              Progress& progress) {
  const std::vector<std::string> known{"steps", "models", "one", "software"};
  HeldOutStepResiduals residuals;
  residuals.front() = hold_out(steps, fit, HeldOutSteps::nothing);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!holds_out(options, known[i], known)) { continue; }
    progress.show(fmt::format("calibrating: holding out {}", known[i]));
    residuals.at(i + 1) = hold_out(steps, fit, static_cast<HeldOutSteps>(i + 1));
  }
  return residuals;
}

}  // namespace

ExitCode calibrate_steps(const CalibrateOptions& options, const Streams& streams) {
  check_writable(*options.output);
  Progress progress(streams, !options.common.quiet);
  progress.show("calibrating: collectives");
  MeasuredSteps measured =
      measured_steps(read_scenarios(options.tables, options.common.library, changes_of(options.scenario)));
  if (measured.empty()) {
    throw UsageError("calibrate: --tables: no case of these scenarios trains and has \"measured\"");
  }
  check_steps(measured);
  PooledSteps steps(std::move(measured));
  StepPoolSettings settings;
  if (options.quick) { settings.rounds = 2; }
  settings.progress = [&](const std::string& what) { progress.show("calibrating: " + what); };
  const StepPoolFit fit = fit_step_pool(steps, settings);
  const HeldOutStepResiduals residuals = held_out(options, steps, fit, progress);
  progress.clear();
  ComputePool pool = pool_of(steps, fit);
  pool.errors = step_errors(steps, residuals, [](std::size_t) { return true; });
  pool.name = profile_name(options);
  std::set<std::string> tables;
  for (std::size_t i = 0; i < steps.steps().size(); ++i) { tables.insert(steps.table(i)); }
  pool.description = fmt::format("{} steps of {} tables", steps.steps().size(), tables.size());
  pool.source = fmt::format("athanor calibrate --backend steps, {}, {}", calibration_date(), calibration_versions());
  write_profile(options, streams, json_of(pool), summary(steps, residuals));
  return ExitCode::ok;
}

}  // namespace athanor
