#include "tools/verify/verdict.hpp"

#include <cmath>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/parse.hpp"
#include "tools/verify/error_summary.hpp"

namespace athanor {

namespace {

/// "case: " in front of what a message is about.
std::string prefix(const Case& scenario_case) { return scenario_case.name.empty() ? "" : scenario_case.name + ": "; }

}  // namespace

Parsed<Ratio> parse_error_limit(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) { text.remove_suffix(1); }
  Parsed<Ratio> parsed = parse_ratio(text);
  if (!parsed.value || *parsed.value < Ratio{0, 1} || parsed.value->denominator > INT64_MAX / 100) {
    return {{}, {"wrong-type", "this is not a ratio from 0 on, such as 0.05 or 5%", ""}};
  }
  if (percent) { parsed.value->denominator *= 100; }
  return parsed;
}

void visit(OptionFields& fields, VerifyOptions& options) {
  visit(fields, options.scenario);
  fields.quantity("max-error", "RATIO", options.max_error, &parse_error_limit, "instead of the scenario's: 0.05 or 5%");
  fields.flag("all", options.all, "every scenario of a directory; errors by measured table and band");
  fields.text("directory", "DIR", options.directory,
              "of --all; default: validation/, its unseen/ and training/ beside presets/");
}

bool is_within(std::optional<Ratio> limit, double found, const std::string& what, const ResultSink& sink,
               const std::string& where) {
  if (!limit) { return true; }
  const bool passed = found <= to_double(*limit);
  sink.print(fmt::format("# {}: {}: {:.2f} %{}, {:.4g} % allowed\n", passed ? "passed" : "FAILED", what, found * 100,
                         where, to_double(*limit) * 100));
  return passed;
}

bool within_limits(const Scenario& scenario, const Case& scenario_case, const Reference& reference,
                   std::optional<Ratio> threshold, const std::vector<Record>& records, const ResultSink& sink) {
  const Bytes below = reference.to == Bytes::max() ? reference.to : reference.to + Bytes{1};
  const ErrorBand counted = error_band(records, reference.from, below);
  if (!counted.worst) {
    throw ScenarioError({"nothing-to-verify",
                         fmt::format("{}no simulated size that counts was measured in '{}'", prefix(scenario_case),
                                     reference.table->id),
                         {scenario.path, 0, 0, ""},
                         R"(simulate sizes that its rows hold, or widen "from" and "to" of "verify")"});
  }
  const std::string sizes = fmt::format("from {}{}", to_string(reference.from),
                                        reference.to == Bytes::max() ? " on" : " to " + to_string(reference.to));
  const bool worst = is_within(threshold ? threshold : reference.max_error, std::abs(counted.worst->number(kError)),
                               "worst |error| " + sizes, sink, " at " + to_string(size_of(*counted.worst)));
  const bool median = is_within(reference.max_median_error, counted.median, "median |error| " + sizes, sink);
  return worst && median;
}

void warn_of_another_machine(const Case& scenario_case, const Reference& reference, ResultSink& sink) {
  const Profile& profile = *scenario_case.platform.profile;
  const Measurement& measurement = *reference.table;
  if (profile.machine.empty() || measurement.machine.empty() || profile.machine == measurement.machine) { return; }
  sink.warn_of(fmt::format("{}profile {} is of another machine ({}) than was measured in {} ({})",
                           prefix(scenario_case), profile.name, profile.machine, measurement.id, measurement.machine));
}

void warn_of_differences(const Case& scenario_case, const Reference& reference, ResultSink& sink) {
  for (const std::string& each : reference.differences) { sink.warn_of(prefix(scenario_case) + each); }
}

}  // namespace athanor
