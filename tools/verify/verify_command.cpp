#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "sim/error.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/run/result_sink.hpp"
#include "tools/verify/error_summary.hpp"
#include "tools/verify/ranking.hpp"
#include "tools/verify/verdict.hpp"
#include "tools/verify/verify_all.hpp"
#include "tools/verify/verify_figures.hpp"
#include "tools/verify/verify_steps.hpp"

namespace athanor {

namespace {

enum class Verdict { passed, failed, interrupted };

Verdict verify_case(const Scenario& scenario, const Case& scenario_case, const Reference& reference,
                    const VerifyOptions& options, const Streams& streams, ResultSink& sink) {
  warn_of_another_machine(scenario_case, reference, sink);
  warn_of_differences(scenario_case, reference, sink);
  for (const std::string& warning : warnings_of(scenario_case)) { sink.warn_of(warning); }
  const ResultTable table(error_columns());
  sink.print(heading_of(scenario, scenario_case).text() + table.head());
  std::vector<Record> records;
  const bool complete =
      run_case(scenario, scenario_case, run_options_of(options.scenario), options.common, streams, [&](Record record) {
        sink.print(table.lines(with_errors(record)));
        records.push_back(record);
        sink.add(scenario_case, std::move(record));
      });
  sink.print(band_lines(error_bands(records)));
  const std::vector<Ranking> orders = rankings(records);
  if (!orders.empty()) {
    sink.print(algorithm_error_lines(records) + ranking_lines(orders));
    std::vector<JsonValue> list;
    for (const Ranking& each : orders) { list.push_back(to_json(each)); }
    sink.add_list("rankings", std::move(list));
  }
  if (!complete) {
    sink.print(interruption_line());
    return Verdict::interrupted;
  }
  const bool passed = within_limits(scenario, scenario_case, reference, options.max_error, records, sink);
  return passed ? Verdict::passed : Verdict::failed;
}

void check_arguments(const VerifyOptions& options) {
  if (options.directory) { throw UsageError("verify: --directory goes with --all"); }
  if (!options.common.arguments.empty()) { return; }
  throw UsageError("verify: SCENARIO... is missing, as in `athanor verify scenarios/quickstart.json`; or --all");
}

[[noreturn]] void refuse_without_measurements(const std::vector<Scenario>& scenarios) {
  std::vector<Problem> problems;
  for (const Scenario& scenario : scenarios) {
    problems.push_back({"nothing-to-verify",
                        "no case names a measurement",
                        {scenario.path, 0, 0, ""},
                        R"(add "verify": {"measurement": NAME}; `athanor list measurements` shows the names. Of a )"
                        R"(step of training say what it took: "measured" of "training"; of a workload of jobs its )"
                        R"(figures: "measured" of "workload")"});
  }
  throw ScenarioError(std::move(problems));
}

ExitCode verify(const VerifyOptions& options, const Streams& streams) {
  if (options.all) { return verify_all(options, streams); }
  check_arguments(options);
  ResultSink sink(options.common, {options.scenario.csv}, streams);
  const std::vector<Scenario> scenarios = read_scenarios(options.common, options.scenario);
  bool any = false;
  bool failed = false;
  bool interrupted = false;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      if (interrupted) { break; }
      const std::optional<Reference> reference = each.experiment->reference();
      if (!reference) {
        sink.warn_of(fmt::format("{}: case '{}' names no measurement, so it is left out", scenario.path, each.name));
        continue;
      }
      if (reference->table == nullptr) { continue; }
      sink.print(any ? "\n" : version_line());
      any = true;
      const Verdict verdict = verify_case(scenario, each, *reference, options, streams, sink);
      failed = failed || verdict == Verdict::failed;
      interrupted = verdict == Verdict::interrupted;
    }
    if (!interrupted && std::any_of(scenario.cases.begin(), scenario.cases.end(), has_measured_figures)) {
      sink.print(any ? "\n" : version_line());
      any = true;
      const VerifiedFigures figures = verify_figures(scenario, options, streams, sink);
      failed = failed || !figures.passed;
      interrupted = figures.interrupted;
      if (interrupted) { sink.print(interruption_line()); }
    }
    if (interrupted || std::none_of(scenario.cases.begin(), scenario.cases.end(), is_measured_step)) { continue; }
    sink.print(any ? "\n" : version_line());
    any = true;
    const VerifiedSteps steps = verify_steps(scenario, options, streams, sink);
    failed = failed || !steps.passed;
    interrupted = steps.interrupted;
    if (interrupted) { sink.print(interruption_line()); }
  }
  if (!any) { refuse_without_measurements(scenarios); }
  sink.finish(scenarios, interrupted);
  if (interrupted) { return ExitCode::interrupted; }
  return failed ? ExitCode::above_threshold : ExitCode::ok;
}

}  // namespace

Command verify_command() {
  return {
      .name = "verify",
      .summary = "holds simulated times against measured ones",
      .arguments = "SCENARIO... | --all",
      .explanation =
          "Runs the cases whose \"verify\" names a measurement and prints error = simulated / measured - 1 for\n"
          "each size and by band; with \"algorithm\": \"each\" also by algorithm, and whether their predicted "
          "order is the\n"
          "measured one. Exit code 5 where an error exceeds \"max_error\", or their median \"max_median_error\", "
          "between \"from\" and \"to\". A step of training is held against \"measured\" of \"training\", a workload of "
          "jobs\n"
          "against \"measured\" of \"workload\" and the waits of its log.\n"
          "--all holds every published table against its scenario: mean |error| below 1 MiB, up to 64 MiB and above,\n"
          "without isolated spikes; medians over tables, noisy ones apart; and whether the algorithm is the measured "
          "one;\n"
          "then the tables that no fit has seen, and the published steps of training, by scenario.\n",
      .example = "athanor verify scenarios/quickstart.json --max-error 5%",
      .least_arguments = 0,
      .most_arguments = SIZE_MAX,
      .prepare = &prepared<VerifyOptions, &verify>};
}

}  // namespace athanor
