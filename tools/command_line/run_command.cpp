#include <algorithm>
#include <memory>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/format.h>

#include "models/in_network/slots/run_with_slots.hpp"
#include "sim/error.hpp"
#include "sim/timeline.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/options.hpp"
#include "tools/command_line/output_file.hpp"
#include "tools/command_line/result_sink.hpp"
#include "tools/command_line/run_parameter_server.hpp"
#include "tools/command_line/run_workload.hpp"
#include "tools/command_line/simulate_case.hpp"

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
  return options;
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
      const auto over_slots = [&](Bytes size) { return uses_slots(each.request(size, {})); };
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

/// run_case() of traffic.
bool run_traffic_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                      const Streams& streams, ResultSink& sink) {
  sink.print(traffic_header_lines(table_header(scenario, scenario_case)));
  for (const std::string& warning : warnings_of(scenario_case)) { sink.warn_of(warning); }
  const bool complete = simulate_traffic_case(scenario, scenario_case, invocation, streams, [&](TrafficRow row) {
    sink.print(traffic_row_line(row) + traffic_detail_lines(row));
    sink.add(std::move(row));
  });
  if (!complete) { sink.print(interruption_line()); }
  return complete;
}

/// run_case() of several jobs.
bool run_jobs_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                   Timeline* timeline, const Streams& streams, ResultSink& sink) {
  sink.print(jobs_header_lines(table_header(scenario, scenario_case)));
  for (const std::string& warning : warnings_of(scenario_case)) { sink.warn_of(warning); }
  std::vector<JobsRow> rows;
  const bool complete =
      simulate_jobs_case(scenario, scenario_case, invocation, timeline, streams, [&](const JobsRow& row) {
        sink.print(jobs_row_lines(row));
        sink.add(row);
        if (invocation.has("ports")) { sink.add_ports(row, *scenario_case.cluster->fabric); }
        rows.push_back(row);
      });
  sink.print(jobs_footer_lines(rows, !complete));
  return complete;
}

/// Prints and collects one case; false: interrupted.
bool run_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation, Timeline* timeline,
              const Streams& streams, ResultSink& sink) {
  if (scenario_case.traffic) { return run_traffic_case(scenario, scenario_case, invocation, streams, sink); }
  if (scenario_case.parameter_server) {
    return run_parameter_server_case(scenario, scenario_case, invocation, streams, sink);
  }
  if (scenario_case.training || scenario_case.trace) {
    run_workload_case(scenario, scenario_case, invocation, timeline, streams, sink);
    return true;
  }
  if (scenario_case.jobs) { return run_jobs_case(scenario, scenario_case, invocation, timeline, streams, sink); }
  const TableHeader header = table_header(scenario, scenario_case);
  sink.print(header_lines(header));
  for (const std::string& warning : warnings_of(scenario_case)) { sink.warn_of(warning); }
  std::vector<ResultRow> rows;
  const bool complete =
      simulate_case(scenario, scenario_case, invocation, timeline, streams, [&](const ResultRow& row) {
        sink.print(row_line(row, !header.measurement.empty()));
        sink.add(row);
        if (invocation.has("ports")) { sink.add_ports(row, *scenario_case.cluster->fabric); }
        rows.push_back(row);
      });
  sink.print(footer_lines(rows, !complete));
  return complete;
}

ExitCode run(const Invocation& invocation, const Streams& streams) {
  ResultSink sink(invocation, streams);
  const std::vector<Scenario> scenarios = read_scenarios(invocation);
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
  return complete ? ExitCode::ok : ExitCode::interrupted;
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
