#include <algorithm>
#include <memory>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "models/execution/by_packets.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/printable.hpp"
#include "sim/timeline.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/options.hpp"
#include "tools/command_line/output_file.hpp"
#include "tools/command_line/run/result_sink.hpp"
#include "tools/command_line/run/run_case.hpp"
#include "tools/command_line/run/simulate_case.hpp"

namespace athanor {

namespace {

boost::program_options::options_description run_options() {
  auto options = simulation_options();
  options.add_options()("trace", boost::program_options::value<std::string>()->value_name("FILE"),
                        "what happened when, as Chrome trace events (opens in Perfetto); of one case and one size");
  options.add_options()("flows", boost::program_options::value<std::string>()->value_name("FILE"),
                        "of traffic: every message with its start, end and the time that it takes alone, as CSV");
  options.add_options()("ports", boost::program_options::value<std::string>()->value_name("FILE"),
                        "what every port carried, and at packet level its queues, marks, drops and pauses, as CSV");
  options.add_options()("strict",
                        "ends with status 6 where a training does not fit into memory, by the estimate of it");
  options.add_options()("dry-run", "says what would be simulated, once all of it has been read and checked");
  return options;
}

/// What a case would simulate, below what it is.
std::string intention(const Scenario& scenario, const Case& scenario_case) {
  std::string text = description_lines(table_header(scenario, scenario_case));
  if (!scenario_case.sizes.empty()) {
    text += fmt::format("# would simulate {} sizes from {} to {}", scenario_case.sizes.size(),
                        to_string(*std::min_element(scenario_case.sizes.begin(), scenario_case.sizes.end())),
                        to_string(*std::max_element(scenario_case.sizes.begin(), scenario_case.sizes.end())));
  } else {
    text += "# would simulate one run";
  }
  if (!scenario_case.seeds.empty()) { text += fmt::format(", each with {} seeds", scenario_case.seeds.size()); }
  return text + "\n";
}

/// Files that nothing would be written to.
void check_files(const Invocation& invocation, const std::vector<Scenario>& scenarios) {
  const auto any = [&](auto is) {
    return std::any_of(scenarios.begin(), scenarios.end(), [&](const Scenario& scenario) {
      return std::any_of(scenario.cases.begin(), scenario.cases.end(), is);
    });
  };
  if (invocation.has("flows") && !any([](const Case& each) { return each.traffic != nullptr; })) {
    throw UsageError("--flows writes the messages of traffic, and this is none; leave it out, or use --trace");
  }
  if (invocation.has("ports") &&
      !any([](const Case& each) { return !each.parameter_server && !each.training && !each.trace; })) {
    throw UsageError(
        "--ports counts what ports carry in collectives and traffic, and this is neither; leave it out, or see what "
        "links carry with `athanor explain`");
  }
  if (invocation.has("strict") && !any([](const Case& each) { return each.training != nullptr; })) {
    throw UsageError("--strict asks whether a training fits into memory, and this is none; leave it out");
  }
}

/// Says that a training does not fit into memory; else ok.
ExitCode fitting(const std::vector<Scenario>& scenarios, const Streams& streams) {
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      if (!each.training || each.training->fits) { continue; }
      complain(streams, fmt::format("{}{}{} does not fit into memory (--strict)", scenario.path,
                                    each.name.empty() ? "" : ": ", each.name));
      return ExitCode::does_not_fit;
    }
  }
  return ExitCode::ok;
}

/// The recorder that --trace asks for, or null.
std::unique_ptr<Timeline> open_trace(const Invocation& invocation, const std::vector<Scenario>& scenarios) {
  if (!invocation.has("trace")) { return nullptr; }
  std::size_t runs = 0;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) { runs += each.sizes.size() * std::max<std::size_t>(each.seeds.size(), 1); }
  }
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      if (each.traffic) {
        throw UsageError("--trace draws primitives of collectives, and traffic has none; use --flows");
      }
      if (each.parameter_server) {
        throw UsageError("--trace draws primitives of collectives, and parameter servers have none; use --json");
      }
      if (each.training || each.trace) { continue; }
      const auto over_slots = [&](Bytes size) { return uses_aggregators(each.request(size, {})); };
      if (std::any_of(each.sizes.begin(), each.sizes.end(), over_slots)) {
        throw UsageError(
            "--trace draws primitives, and packets that switches add up one by one have none; use --ports");
      }
    }
  }
  if (runs != 1) {
    throw UsageError(fmt::format(
        "--trace records one case at one size and one seed, and this is {} of them; choose with --case NAME, "
        "--sizes 1MiB and --set /seeds=1",
        runs));
  }
  check_writable(invocation.text("trace"));
  return std::make_unique<Timeline>(invocation.text("trace"));
}

ExitCode run(const Invocation& invocation, const Streams& streams) {
  ResultSink sink(invocation, streams);
  const std::vector<Scenario> scenarios = read_scenarios(invocation);
  check_files(invocation, scenarios);
  if (invocation.has("dry-run")) {
    for (const Scenario& scenario : scenarios) {
      for (const Case& each : scenario.cases) { streams.out(printable_lines(intention(scenario, each))); }
    }
    return ExitCode::ok;
  }
  const std::unique_ptr<Timeline> timeline = open_trace(invocation, scenarios);
  bool complete = true;
  bool first = true;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      if (!complete) { break; }
      sink.print(first ? version_line() : "\n");
      first = false;
      complete = run_case(scenario, each, invocation, timeline.get(), streams, sink);
    }
  }
  if (timeline) { timeline->close(); }
  sink.finish(scenarios, !complete);
  if (!complete) { return ExitCode::interrupted; }
  return invocation.has("strict") ? fitting(scenarios, streams) : ExitCode::ok;
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
          .options = &run_options,
          .execute = &run};
}

}  // namespace athanor
