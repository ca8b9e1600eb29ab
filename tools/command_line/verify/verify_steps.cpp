#include "tools/command_line/verify/verify_steps.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/json/text.hpp"
#include "tools/command_line/run/run_workload.hpp"
#include "tools/command_line/run/simulate_case.hpp"
#include "tools/command_line/verify/verdict.hpp"

namespace athanor {

namespace {

double nearest_rank(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()) - 1e-9));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

std::string header_text() {
  return fmt::format("#{:>11} {:>12} {:>8}  {}\n#{:>11} {:>12} {:>8}\n", "measured", "simulated", "error", "step",
                     "(ms)", "(ms)", "(%)");
}

std::string step_line(const TrainingRow& row, const std::string& name) {
  return fmt::format("{} {} {:>+8.1f}  {}\n", fitted(microseconds(*row.measured) / 1000, 12),
                     fitted(microseconds(row.result.time) / 1000, 12), row.error() * 100, name);
}

/// Says whether a limit holds, where there is one.
bool holds(std::optional<Ratio> limit, double found, const std::string& what, const ResultSink& sink) {
  if (!limit) { return true; }
  const bool passed = found <= to_double(*limit);
  sink.print(fmt::format("# {}: {}: {:.2f} %, {:.4g} % allowed\n", passed ? "passed" : "FAILED", what, found * 100,
                         to_double(*limit) * 100));
  return passed;
}

/// The smallest limit that a case names counts for all of them.
std::optional<Ratio> median_limit(const Scenario& scenario) {
  std::optional<Ratio> limit;
  for (const Case& each : scenario.cases) {
    if (!is_measured_step(each) || !each.training->max_median_error) { continue; }
    limit = std::min(limit.value_or(*each.training->max_median_error), *each.training->max_median_error);
  }
  return limit;
}

std::string stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

}  // namespace

bool is_measured_step(const Case& scenario_case) { return scenario_case.training && scenario_case.training->measured; }

double VerifiedSteps::size_at(double share) const {
  std::vector<double> sizes;
  for (const double each : errors) { sizes.push_back(std::abs(each)); }
  return nearest_rank(std::move(sizes), share);
}

double VerifiedSteps::median() const { return nearest_rank(errors, 0.5); }

VerifiedSteps verify_steps(const Scenario& scenario, const Invocation& invocation, const Streams& streams,
                           ResultSink& sink) {
  VerifiedSteps found{.scenario = scenario.path, .errors = {}};
  const std::optional<Ratio> asked = max_error_option(invocation);
  for (const Case& each : scenario.cases) {
    if (!is_measured_step(each)) { continue; }
    if (streams.interrupted()) {
      found.interrupted = true;
      break;
    }
    if (found.errors.empty()) { sink.print(fmt::format("# {}\n{}", scenario.path, header_text())); }
    for (const std::string& warning : warnings_of(each)) { sink.warn_of(warning); }
    TrainingRow row =
        simulate_training(scenario, each, simulation_options_of(each, invocation, nullptr), {.critical_path = false});
    found.errors.push_back(row.error());
    sink.print(step_line(row, each.name));
    const std::optional<Ratio> limit = asked ? asked : each.training->max_error;
    found.passed = holds(limit, std::abs(row.error()), "|error| of " + each.name, sink) && found.passed;
    sink.add(std::move(row));
  }
  if (found.errors.empty() || found.interrupted) { return found; }
  if (found.errors.size() > 1) {
    sink.print(fmt::format("# {} steps: |error| {:.1f} % in the median, {:.1f} % at the 90th percentile\n",
                           found.errors.size(), found.size_at(0.5) * 100, found.size_at(0.9) * 100));
  }
  found.passed = holds(median_limit(scenario), found.size_at(0.5), "median |error| of the steps", sink) && found.passed;
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
                         each.errors.size(), each.size_at(0.5) * 100, each.size_at(0.9) * 100, each.median() * 100);
  }
  return lines;
}

std::vector<std::string> step_table_json(const std::vector<VerifiedSteps>& tables) {
  std::vector<std::string> elements;
  for (const VerifiedSteps& each : tables) {
    if (each.errors.empty()) { continue; }
    elements.push_back(text_of(nlohmann::ordered_json{{"scenario", each.scenario},
                                                      {"steps", each.errors.size()},
                                                      {"median_error", each.size_at(0.5)},
                                                      {"p90_error", each.size_at(0.9)},
                                                      {"median", each.median()}}));
  }
  return elements;
}

}  // namespace athanor
