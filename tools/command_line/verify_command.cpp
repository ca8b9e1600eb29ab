#include <cmath>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/format.h>

#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/parse.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/options.hpp"
#include "tools/command_line/result_sink.hpp"
#include "tools/command_line/simulate_case.hpp"
#include "tools/report/error_summary.hpp"
#include "tools/report/ranking.hpp"

namespace athanor {

namespace {

boost::program_options::options_description verify_options() {
  auto options = simulation_options();
  options.add_options()("max-error", boost::program_options::value<std::string>()->value_name("RATIO"),
                        "instead of the scenario's: 0.05 or 5%");
  return options;
}

/// "0.05" or "5%" as given, none when it is not.
std::optional<Ratio> threshold_of(const Invocation& invocation) {
  if (!invocation.has("max-error")) { return std::nullopt; }
  std::string text = invocation.text("max-error");
  const bool percent = text.ends_with('%');
  if (percent) { text.pop_back(); }
  const Parsed<Ratio> parsed = parse_ratio(text);
  if (!parsed.value || *parsed.value < Ratio{0, 1} || parsed.value->denominator > INT64_MAX / 100) {
    throw UsageError(
        fmt::format("--max-error: '{}' is not a ratio from 0 on, such as 0.05 or 5%", invocation.text("max-error")));
  }
  return percent ? Ratio{parsed.value->numerator, parsed.value->denominator * 100} : *parsed.value;
}

enum class Verdict { passed, failed, interrupted };

/// The worst point that counts against what is allowed.
Verdict judge(const Scenario& scenario, const Case& scenario_case, std::optional<Ratio> threshold,
              const std::vector<ResultRow>& rows, const ResultSink& sink) {
  const Verification& verification = *scenario_case.verification;
  const Bytes below = verification.to == Bytes::max() ? verification.to : verification.to + Bytes{1};
  const ErrorBand counted = error_band(rows, verification.from, below);
  if (!counted.worst) {
    throw ScenarioError({"nothing-to-verify",
                         fmt::format("{}: no simulated size that counts was measured in '{}'", scenario_case.name,
                                     verification.measurement.id),
                         {scenario.path, 0, 0, ""},
                         "simulate sizes that its rows hold, or widen \"from\" and \"to\" of \"verify\""});
  }
  const std::string sizes = fmt::format("from {}{}", to_string(verification.from),
                                        verification.to == Bytes::max() ? " on" : " to " + to_string(verification.to));
  const auto holds = [&](std::optional<Ratio> allowed, double found, const char* which, const std::string& where) {
    if (!allowed) { return true; }
    const bool passed = found <= to_double(*allowed);
    sink.print(fmt::format("# {}: {} |error| {}: {:.2f} %{}, {:.4g} % allowed\n", passed ? "passed" : "FAILED", which,
                           sizes, found * 100, where, to_double(*allowed) * 100));
    return passed;
  };
  const bool worst = holds(threshold ? threshold : verification.max_error, std::abs(*error(*counted.worst)), "worst",
                           " at " + to_string(counted.worst->run.size));
  const bool median = holds(verification.max_median_error, counted.median, "median", "");
  return worst && median ? Verdict::passed : Verdict::failed;
}

/// A profile says nothing of a machine that it was not made on; the comparison is shown all the same.
void warn_of_another_machine(const Case& scenario_case, ResultSink& sink) {
  const std::string& calibrated = scenario_case.profile.machine;
  const Measurement& measurement = scenario_case.verification->measurement;
  if (calibrated.empty() || measurement.machine.empty() || calibrated == measurement.machine) { return; }
  sink.warn_of(fmt::format("{}: profile {} is of another machine ({}) than was measured in {} ({})", scenario_case.name,
                           scenario_case.profile.name, calibrated, measurement.id, measurement.machine));
}

Verdict verify_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                    const Streams& streams, ResultSink& sink) {
  warn_of_another_machine(scenario_case, sink);
  for (const std::string& warning : warnings_of(scenario_case)) { sink.warn_of(warning); }
  sink.print(description_lines(table_header(scenario, scenario_case)) + error_header_lines());
  std::vector<ResultRow> rows;
  const bool complete = simulate_case(scenario, scenario_case, invocation, nullptr, streams, [&](const ResultRow& row) {
    sink.print(error_line(row));
    sink.add(row);
    rows.push_back(row);
  });
  sink.print(band_lines(error_bands(rows)));
  if (scenario_case.each_algorithm) {
    const std::vector<Ranking> orders = rankings(rows);
    sink.print(algorithm_error_lines(rows) + ranking_lines(orders));
    for (const Ranking& each : orders) { sink.add(each); }
  }
  if (!complete) {
    sink.print(interruption_line());
    return Verdict::interrupted;
  }
  return judge(scenario, scenario_case, threshold_of(invocation), rows, sink);
}

[[noreturn]] void refuse_without_measurements(const std::vector<Scenario>& scenarios) {
  std::vector<Problem> problems;
  for (const Scenario& scenario : scenarios) {
    problems.push_back({"nothing-to-verify",
                        "no case names a measurement",
                        {scenario.path, 0, 0, ""},
                        R"(add "verify": {"measurement": NAME}; `athanor list measurements` shows the names)"});
  }
  throw ScenarioError(std::move(problems));
}

ExitCode verify(const Invocation& invocation, const Streams& streams) {
  threshold_of(invocation);
  ResultSink sink(invocation, streams);
  const std::vector<Scenario> scenarios = read_scenarios(invocation);
  bool any = false;
  bool failed = false;
  bool interrupted = false;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      if (interrupted) { break; }
      if (!each.verification) {
        sink.warn_of(fmt::format("{}: case '{}' names no measurement, so it is left out", scenario.path, each.name));
        continue;
      }
      sink.print(any ? "\n" : version_line());
      any = true;
      const Verdict verdict = verify_case(scenario, each, invocation, streams, sink);
      failed = failed || verdict == Verdict::failed;
      interrupted = verdict == Verdict::interrupted;
    }
  }
  if (!any) { refuse_without_measurements(scenarios); }
  sink.finish(scenarios, interrupted);
  if (interrupted) { return ExitCode::interrupted; }
  return failed ? ExitCode::above_threshold : ExitCode::ok;
}

}  // namespace

Command verify_command() {
  return {.name = "verify",
          .summary = "holds simulated times against measured ones",
          .arguments = "SCENARIO...",
          .explanation =
              "Runs the cases whose \"verify\" names a measurement and prints error = simulated / measured - 1 for\n"
              "each size and by band; with \"algorithm\": \"each\" also by algorithm, and whether their predicted "
              "order is the\n"
              "measured one. Exit code 5 where an error exceeds \"max_error\", or their median \"max_median_error\", "
              "between \"from\" and \"to\".\n",
          .example = "athanor verify scenarios/quickstart.json --max-error 5%",
          .least_arguments = 1,
          .most_arguments = SIZE_MAX,
          .options = &verify_options,
          .execute = &verify};
}

}  // namespace athanor
