#include "tools/verify/verify_steps.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "models/experiments/training.hpp"
#include "models/experiments/workload_columns.hpp"
#include "sim/percentile.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/verify/verify_figures.hpp"

namespace athanor {

namespace {

constexpr Column kMeasured{"", "measured", "(ms)", 12, Format::milliseconds};
constexpr Column kSimulated{"", "simulated", "(ms)", 12, Format::milliseconds};
constexpr Column kRelative{"", "error", "(%)", 8, Format::signed_percent};
constexpr Column kName{"", "step", "", 0, Format::text, 2};

ResultTable steps_table() { return ResultTable({&kMeasured, &kSimulated, &kRelative, &kName}); }

std::string step_line(const Record& record, const std::string& name) {
  Record line;
  line.put(kMeasured, record.number(kMeasuredStep));
  line.put(kSimulated, record.number(kStepTime));
  line.put(kRelative, record.number(kStepError));
  line.put(kName, name);
  return steps_table().lines(line);
}

/// The smallest limit that a case names counts for all of them.
std::optional<Ratio> median_limit(const Scenario& scenario) {
  std::optional<Ratio> limit;
  for (const Case& each : scenario.cases) {
    if (!is_measured_step(each)) { continue; }
    const std::optional<Ratio> own = each.experiment->reference()->max_median_error;
    if (own) { limit = std::min(limit.value_or(*own), *own); }
  }
  return limit;
}

void count_interval(const Record& record, VerifiedSteps& found) {
  if (!record.has(kStepLow)) { return; }
  const double measured = record.number(kMeasuredStep);
  ++found.with_interval;
  found.inside += record.number(kStepLow) <= measured && measured <= record.number(kStepHigh) ? 1 : 0;
}

/// Of all tables together; "": none is known.
std::string interval_line(const std::vector<VerifiedSteps>& tables) {
  std::size_t steps = 0;
  std::size_t inside = 0;
  for (const VerifiedSteps& each : tables) {
    steps += each.with_interval;
    inside += each.inside;
  }
  if (steps == 0) { return ""; }
  return fmt::format("# within the intervals of 80 %: {:.0f} % of {} steps\n",
                     100.0 * static_cast<double>(inside) / static_cast<double>(steps), steps);
}

PlanTrial trial_of(const Case& of, const Record& record) {
  const Training& training = of.as<TrainingExperiment>()->training();
  return {of.name, training.measured_with.release, &training.setup, record.number(kMeasuredStep),
          record.number(kStepTime)};
}

std::vector<PlanChoice> all_choices(const std::vector<VerifiedSteps>& tables) {
  std::vector<PlanChoice> all;
  for (const VerifiedSteps& each : tables) { all.insert(all.end(), each.choices.begin(), each.choices.end()); }
  return all;
}

std::string stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

}  // namespace

bool is_measured_step(const Case& scenario_case) {
  const std::optional<Reference> reference = scenario_case.experiment->reference();
  return reference && reference->table == nullptr && !has_measured_figures(scenario_case);
}

double VerifiedSteps::size_at(std::size_t percent) const {
  std::vector<double> sizes;
  for (const double each : errors) { sizes.push_back(std::abs(each)); }
  std::sort(sizes.begin(), sizes.end());
  return percentile(sizes, percent);
}

double VerifiedSteps::median() const {
  std::vector<double> sorted = errors;
  std::sort(sorted.begin(), sorted.end());
  return percentile(sorted, 50);
}

VerifiedSteps verify_steps(const Scenario& scenario, const VerifyOptions& options, const Streams& streams,
                           ResultSink& sink) {
  VerifiedSteps found{.scenario = scenario.path, .errors = {}, .choices = {}};
  std::vector<PlanTrial> trials;
  for (const Case& each : scenario.cases) {
    if (!is_measured_step(each)) { continue; }
    if (found.errors.empty()) { sink.print(fmt::format("# {}\n{}", scenario.path, steps_table().head())); }
    for (const std::string& warning : warnings_of(each)) { sink.warn_of(warning); }
    found.interrupted =
        !run_case(scenario, each, run_options_of(options.scenario), options.common, streams, [&](Record record) {
          const double error = record.number(kStepError);
          found.errors.push_back(error);
          count_interval(record, found);
          trials.push_back(trial_of(each, record));
          sink.print(step_line(record, each.name));
          const std::optional<Ratio> limit =
              options.max_error ? options.max_error : each.experiment->reference()->max_error;
          found.passed = is_within(limit, std::abs(error), "|error| of " + each.name, sink) && found.passed;
          sink.add(each, std::move(record));
        });
    if (found.interrupted) { break; }
  }
  if (found.errors.empty() || found.interrupted) { return found; }
  if (found.errors.size() > 1) {
    sink.print(fmt::format("# {} steps: |error| {:.1f} % in the median, {:.1f} % at the 90th percentile\n",
                           found.errors.size(), found.size_at(50) * 100, found.size_at(90) * 100));
    sink.print(interval_line({found}));
  }
  found.choices = plan_choices(trials);
  sink.print(plan_choice_lines(found.choices) + plan_choice_summary(found.choices));
  if (!found.choices.empty()) { sink.add_list("plan_choices", plan_choice_json(scenario.path, found.choices)); }
  found.passed =
      is_within(median_limit(scenario), found.size_at(50), "median |error| of the steps", sink) && found.passed;
  return found;
}

std::string step_table_lines(const std::vector<VerifiedSteps>& tables) {
  std::string lines;
  for (const VerifiedSteps& each : tables) {
    if (each.errors.empty()) { continue; }
    if (lines.empty()) {
      lines = fmt::format("# {:<32} {:>6} {:>14} {:>14} {:>14}\n", "steps of training", "steps", "median |error|",
                          "90th percentile", "median error");
    }
    lines += fmt::format("  {:<32} {:>6} {:>12.1f} % {:>13.1f} % {:>+12.1f} %\n", stem(each.scenario),
                         each.errors.size(), each.size_at(50) * 100, each.size_at(90) * 100, each.median() * 100);
  }
  return lines + interval_line(tables) + plan_choice_summary(all_choices(tables));
}

std::vector<JsonValue> step_table_json(const std::vector<VerifiedSteps>& tables) {
  std::vector<JsonValue> elements;
  for (const VerifiedSteps& each : tables) {
    if (each.errors.empty()) { continue; }
    elements.push_back({{"scenario", each.scenario},
                        {"steps", each.errors.size()},
                        {"median_error", each.size_at(50)},
                        {"p90_error", each.size_at(90)},
                        {"median", each.median()}});
    if (each.with_interval == 0) { continue; }
    elements.back()["within_interval"] = static_cast<double>(each.inside) / static_cast<double>(each.with_interval);
  }
  return elements;
}

}  // namespace athanor
