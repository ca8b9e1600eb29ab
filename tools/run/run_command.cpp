#include <algorithm>
#include <memory>
#include <span>

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/parse.hpp"
#include "sim/printable.hpp"
#include "sim/timeline.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/run/expected_effort.hpp"
#include "tools/run/result_sink.hpp"

namespace athanor {

namespace {

struct RunCommandOptions {
  CommonOptions common;
  ScenarioOptions scenario;
  std::optional<std::string> trace, flows, ports, per_job;
  bool strict = false;
  bool dry_run = false;
  bool estimate = false;
  bool progress = false;
  std::optional<Time> budget;
};

void visit(OptionFields& fields, RunCommandOptions& options) {
  visit(fields, options.scenario);
  fields.written_file("trace", options.trace,
                      "what happened when, as Chrome trace events (opens in Perfetto); of one case and one size");
  fields.written_file("flows", options.flows,
                      "of traffic: every message with its start, end and the time that it takes alone, as CSV");
  fields.written_file("ports", options.ports,
                      "what every port carried, and at packet level its queues, marks, drops and pauses, as CSV");
  fields.written_file("per-job", options.per_job,
                      "of a workload: every job with when it was submitted, ran and ended, and where, as CSV");
  fields.flag("strict", options.strict,
              "ends with status 6 where a training does not fit into memory, by the estimate of it");
  fields.flag("dry-run", options.dry_run, "says what would be simulated, once all of it has been read and checked");
  fields.flag("estimate", options.estimate,
              "says how long it would take at each level of the network, and how much memory, without running it");
  fields.flag("progress", options.progress,
              "tells on stderr how far it is and when it ends, though that is no terminal");
  fields.quantity(
      "budget", "TIME", options.budget, &parse_time,
      "as in 60s: simulates packets as far as that fits, else what settles is skipped (skip_error 0.01), else "
      "flows, else the ideal network, and says so");
}

/// What a case would simulate, below what it is.
std::string intention(const Scenario& scenario, const Case& scenario_case) {
  std::string text = heading_of(scenario, scenario_case).text();
  const std::span<const Bytes> sizes = scenario_case.experiment->sizes();
  if (!sizes.empty()) {
    text += fmt::format("# would simulate {} sizes from {} to {}", sizes.size(),
                        to_string(*std::min_element(sizes.begin(), sizes.end())),
                        to_string(*std::max_element(sizes.begin(), sizes.end())));
  } else {
    text += "# would simulate one run";
  }
  if (!scenario_case.seeds.empty()) { text += fmt::format(", each with {} seeds", scenario_case.seeds.size()); }
  return text + "\n";
}

/// Throws UsageError where an option asks for what no case can do.
void require_ability(bool asked, const std::vector<Scenario>& scenarios, Ability ability) {
  if (!asked) { return; }
  std::string refusal;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      refusal = each.experiment->refusal(each.platform, ability);
      if (refusal.empty()) { return; }
    }
  }
  throw UsageError(refusal);
}

/// Says that a training does not fit into memory; else ok.
ExitCode fitting(const std::vector<Scenario>& scenarios, const Streams& streams) {
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      if (each.experiment->fits_memory()) { continue; }
      complain(streams, fmt::format("{}{}{} does not fit into memory (--strict)", scenario.path,
                                    each.name.empty() ? "" : ": ", each.name));
      return ExitCode::does_not_fit;
    }
  }
  return ExitCode::ok;
}

/// The recorder that --trace asks for, or null.
std::unique_ptr<Timeline> open_trace(const std::optional<std::string>& trace, const std::vector<Scenario>& scenarios) {
  if (!trace) { return nullptr; }
  std::size_t runs = 0;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      runs += each.experiment->sizes().size() * std::max<std::size_t>(each.seeds.size(), 1);
      const std::string refusal = each.experiment->refusal(each.platform, Ability::timeline);
      if (!refusal.empty()) { throw UsageError(refusal); }
    }
  }
  if (runs != 1) {
    throw UsageError(fmt::format(
        "--trace records one case at one size and one seed, and this is {} of them; choose with --case NAME, "
        "--sizes 1MiB and --set /seeds=1",
        runs));
  }
  check_writable(*trace);
  return std::make_unique<Timeline>(*trace);
}

/// Runs a case, and prints and collects its rows. False: interrupted.
bool run_to_table(const Scenario& scenario, const Case& scenario_case, const RunCommandOptions& options,
                  Timeline* timeline, const Streams& streams, ResultSink& sink, ExpectedEnd& end) {
  const Experiment& experiment = *scenario_case.experiment;
  const ResultTable table(experiment.columns(!scenario_case.seeds.empty()));
  sink.print(heading_of(scenario, scenario_case).text() + table.head());
  for (const std::string& warning : warnings_of(scenario_case)) { sink.warn_of(warning); }
  RunOptions how = run_options_of(options.scenario);
  how.ports = options.ports.has_value();
  how.flows = options.flows.has_value();
  how.per_job = options.per_job.has_value();
  how.timeline = timeline;
  std::vector<Record> records;
  const auto see = [&](Record record) {
    sink.print(table.lines(record));
    records.push_back(record);
    sink.add(scenario_case, std::move(record));
  };
  const bool complete = run_case(scenario, scenario_case, how, options.common, streams, see, &end);
  sink.print(experiment.footer(records) + (complete ? "" : interruption_line()));
  return complete;
}

/// Of --budget. Throws UsageError where nothing fits into it.
double seconds_of(Time budget) {
  if (budget > Time::zero()) { return seconds(budget); }
  throw UsageError("run: --budget: nothing takes no time; allow more than 0, as in --budget 60s");
}

/// With progress where it was asked for.
Streams with_progress(const Streams& streams, bool asked) {
  Streams other = streams;
  other.progress_lines = asked && !streams.progress;
  other.progress = asked || streams.progress;
  return other;
}

ExitCode run(const RunCommandOptions& options, const Streams& given) {
  const Streams streams = with_progress(given, options.progress);
  ResultSink sink(options.common, {options.scenario.csv, options.flows, options.ports, options.per_job}, streams);
  std::vector<Scenario> scenarios = read_scenarios(options.common, options.scenario);
  if (options.budget) { keep_to_budget(scenarios, seconds_of(*options.budget), run_options_of(options.scenario)); }
  require_ability(options.flows.has_value(), scenarios, Ability::flows);
  require_ability(options.ports.has_value(), scenarios, Ability::ports);
  require_ability(options.per_job.has_value(), scenarios, Ability::per_job);
  require_ability(options.strict, scenarios, Ability::memory);
  if (options.dry_run) {
    for (const Scenario& scenario : scenarios) {
      for (const Case& each : scenario.cases) { streams.out(printable_lines(intention(scenario, each))); }
    }
    return ExitCode::ok;
  }
  if (options.estimate) {
    tell_efforts(scenarios, run_options_of(options.scenario), options.common, streams);
    return ExitCode::ok;
  }
  const std::unique_ptr<Timeline> timeline = open_trace(options.trace, scenarios);
  ExpectedEnd end = expect(scenarios, run_options_of(options.scenario), options.common, streams);
  bool complete = true;
  bool first = true;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      if (!complete) { break; }
      sink.print(first ? version_line() : "\n");
      first = false;
      complete = run_to_table(scenario, each, options, timeline.get(), streams, sink, end);
    }
  }
  if (timeline) { timeline->close(); }
  sink.finish(scenarios, !complete);
  if (!complete) { return ExitCode::interrupted; }
  return options.strict ? fitting(scenarios, streams) : ExitCode::ok;
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .summary = "simulates every case of a scenario at every size",
          .arguments = "SCENARIO...",
          .explanation =
              "Prints nccl-tests' columns, the least time that the hardware allows (bound), what limited the\n"
              "collective, and measured times where the scenario names a measurement. Results go to stdout,\n"
              "everything else to stderr.\n",
          .example = "athanor run scenarios/quickstart.json --sizes 1MiB..1GiB --json=result.json",
          .least_arguments = 1,
          .most_arguments = SIZE_MAX,
          .prepare = &prepared<RunCommandOptions, &run>};
}

}  // namespace athanor
