#include "tools/command_line/run/run_parameter_server.hpp"

#include <fmt/core.h>

#include "sim/format.hpp"
#include "tools/command_line/progress.hpp"
#include "tools/command_line/run/simulate_case.hpp"

namespace athanor {

namespace {

std::string label(const Case& scenario_case, Bytes size) {
  return fmt::format("{}{}{} parameters on servers", scenario_case.name, scenario_case.name.empty() ? "" : ", ",
                     to_string(size));
}

ParameterServerRow simulate_once(const Scenario& scenario, const Case& scenario_case, Bytes size,
                                 const SimulationOptions& options) {
  ParameterServerRow row{.scenario = scenario.path,
                         .case_name = scenario.has_cases ? scenario_case.name : "",
                         .network = std::string(name(scenario_case.level)),
                         .seed = scenario_case.seed,
                         .cluster = scenario_case.cluster,
                         .setup = scenario_case.parameter_server->setup,
                         .result = {}};
  row.setup.parameters = size;
  try {
    row.result = simulate_parameter_server(row.setup, *row.cluster, row.seed, options);
  } catch (const SimulationError& error) {
    throw SimulationError(error.code(),
                          fmt::format("{}: {}: {}", scenario.path, label(scenario_case, size), error.what()));
  }
  return row;
}

}  // namespace

bool run_parameter_server_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                               const Streams& streams, ResultSink& sink) {
  const SimulationOptions options = simulation_options_of(scenario_case, invocation, nullptr);
  sink.print(parameter_server_header_lines(table_header(scenario, scenario_case)));
  for (const std::string& warning : warnings_of(scenario_case)) { sink.warn_of(warning); }
  Progress progress(streams, !invocation.quiet);
  for (std::size_t i = 0; i < scenario_case.sizes.size(); ++i) {
    const Bytes size = scenario_case.sizes[i];
    std::vector<ParameterServerRow> rows;
    for (const Case& repetition : scenario_case.repetitions()) {
      if (streams.interrupted()) {
        progress.clear();
        sink.print(interruption_line());
        return false;
      }
      progress.show(fmt::format("[{}/{}] {}", i + 1, scenario_case.sizes.size(), label(scenario_case, size)));
      rows.push_back(simulate_once(scenario, repetition, size, options));
    }
    progress.clear();
    if (invocation.verbose) {
      streams.err(fmt::format("athanor: {}: {} events\n", label(scenario_case, size), rows.front().result.events));
    }
    ParameterServerRow row = scenario_case.seeds.empty() ? std::move(rows.front()) : summarised(std::move(rows));
    sink.print(parameter_server_row_line(row) + parameter_server_detail_lines(row));
    sink.add(std::move(row));
  }
  return true;
}

}  // namespace athanor
