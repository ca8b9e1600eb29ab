#include "tools/command_line/verify_all.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/error.hpp"
#include "tools/command_line/simulate_case.hpp"
#include "tools/command_line/verdict.hpp"
#include "tools/verify/table_errors.hpp"

namespace athanor {

namespace {

namespace files = std::filesystem;

std::vector<std::string> scenarios_in(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : files::directory_iterator(directory, ignored)) {
    if (entry.path().extension() == ".json") { paths.push_back(entry.path().string()); }
  }
  if (paths.empty()) { throw FileError(fmt::format("{}: there is no scenario (*.json) in it", directory)); }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// All cases of one measurement, wherever they stand.
struct Table {
  std::string id;
  std::vector<VerifiedCase> cases;
};

Table& table_of(std::vector<Table>& tables, const std::string& id) {
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const Table& table) { return table.id == id; });
  return found == tables.end() ? tables.emplace_back(Table{id, {}}) : *found;
}

/// What came of all cases so far.
struct Outcome {
  std::vector<Table> tables;
  bool failed = false;
  bool interrupted = false;
};

void verify_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                 const Streams& streams, ResultSink& sink, Outcome& outcome) {
  warn_of_another_machine(scenario_case, sink);
  VerifiedCase verified{scenario.path, &scenario_case, {}};
  const bool complete = simulate_case(scenario, scenario_case, invocation, nullptr, streams, [&](const ResultRow& row) {
    sink.add(row);
    verified.rows.push_back(row);
  });
  outcome.interrupted = !complete;
  if (!complete) { return; }
  const bool passed = within_limits(scenario, scenario_case, max_error_option(invocation), verified.rows, sink);
  outcome.failed = outcome.failed || !passed;
  table_of(outcome.tables, scenario_case.verification->measurement.id).cases.push_back(std::move(verified));
}

Outcome verify_scenarios(const std::vector<Scenario>& scenarios, const Invocation& invocation, const Streams& streams,
                         ResultSink& sink) {
  Outcome outcome;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      if (outcome.interrupted || !each.verification) { continue; }
      verify_case(scenario, each, invocation, streams, sink, outcome);
    }
  }
  return outcome;
}

}  // namespace

ExitCode verify_all(const Invocation& invocation, const Streams& streams) {
  if (!invocation.arguments.empty()) {
    throw UsageError(fmt::format("verify: '{}' beside --all, which takes all scenarios of a --directory",
                                 invocation.arguments.front()));
  }
  max_error_option(invocation);
  ResultSink sink(invocation, streams);
  const std::string directory = invocation.has("directory")
                                    ? invocation.text("directory")
                                    : (files::path(invocation.library.directory()) / "validation").string();
  Invocation every = invocation;
  every.arguments = scenarios_in(directory);
  const std::vector<Scenario> scenarios = read_scenarios(every);
  sink.print(version_line());
  const Outcome outcome = verify_scenarios(scenarios, invocation, streams, sink);
  std::vector<TableErrors> tables;
  for (const Table& table : outcome.tables) { tables.push_back(table_errors(table.cases)); }
  sink.print(table_error_lines(tables));
  for (auto& [key, elements] : table_error_json(tables)) { sink.add_list(key, std::move(elements)); }
  if (outcome.interrupted) { sink.print(interruption_line()); }
  sink.finish(scenarios, outcome.interrupted);
  if (outcome.interrupted) { return ExitCode::interrupted; }
  return outcome.failed ? ExitCode::above_threshold : ExitCode::ok;
}

}  // namespace athanor
