#include "tools/command_line/run/run_case.hpp"

#include "tools/command_line/run/run_parameter_server.hpp"
#include "tools/command_line/run/run_workload.hpp"
#include "tools/command_line/run/simulate_case.hpp"

namespace athanor {

namespace {

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

}  // namespace

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

}  // namespace athanor
