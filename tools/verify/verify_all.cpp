#include "tools/verify/verify_all.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/verify/table_errors.hpp"
#include "tools/verify/verdict.hpp"
#include "tools/verify/verify_figures.hpp"
#include "tools/verify/verify_steps.hpp"

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
  std::vector<Table> tables;  ///< of those that are being verified: fitted ones, or unseen ones
  std::vector<VerifiedSteps> steps;
  bool failed = false;
  bool interrupted = false;
};

void verify_case(const Scenario& scenario, const Case& scenario_case, const Reference& reference,
                 const VerifyOptions& options, const Streams& streams, ResultSink& sink, Outcome& outcome) {
  warn_of_another_machine(scenario_case, reference, sink);
  VerifiedCase verified{scenario.path, &scenario_case, {}};
  const bool complete =
      run_case(scenario, scenario_case, run_options_of(options.scenario), options.common, streams, [&](Record record) {
        verified.records.push_back(record);
        sink.add(scenario_case, std::move(record));
      });
  outcome.interrupted = !complete;
  if (!complete) { return; }
  const bool passed = within_limits(scenario, scenario_case, reference, options.max_error, verified.records, sink);
  outcome.failed = outcome.failed || !passed;
  table_of(outcome.tables, reference.table->id).cases.push_back(std::move(verified));
}

void verify_scenario(const Scenario& scenario, const VerifyOptions& options, const Streams& streams, ResultSink& sink,
                     Outcome& outcome) {
  for (const Case& each : scenario.cases) {
    const std::optional<Reference> reference = each.experiment->reference();
    if (outcome.interrupted || !reference || reference->table == nullptr) { continue; }
    verify_case(scenario, each, *reference, options, streams, sink, outcome);
  }
  if (!outcome.interrupted && std::any_of(scenario.cases.begin(), scenario.cases.end(), has_measured_figures)) {
    const VerifiedFigures figures = verify_figures(scenario, options, streams, sink);
    outcome.failed = outcome.failed || !figures.passed;
    outcome.interrupted = figures.interrupted;
  }
  if (outcome.interrupted || std::none_of(scenario.cases.begin(), scenario.cases.end(), is_measured_step)) { return; }
  outcome.steps.push_back(verify_steps(scenario, options, streams, sink));
  outcome.failed = outcome.failed || !outcome.steps.back().passed;
  outcome.interrupted = outcome.steps.back().interrupted;
}

/// Tables so far, which then are none.
std::vector<TableErrors> errors_of(std::vector<Table>& tables) {
  std::vector<TableErrors> errors;
  for (const Table& table : tables) { errors.push_back(table_errors(table.cases)); }
  tables.clear();
  return errors;
}

/// Scenarios whose tables no fit has seen; none where there is no such folder.
std::vector<Scenario> unseen_scenarios(const files::path& validation, const VerifyOptions& options) {
  const files::path folder = validation / "unseen";
  if (!files::is_directory(folder)) { return {}; }
  return read_scenarios(scenarios_in(folder.string()), options.common.library, changes_of(options.scenario));
}

void report_unseen(const std::vector<TableErrors>& tables, ResultSink& sink) {
  if (tables.empty()) { return; }
  sink.print("\n# tables that no fit has seen\n" + table_error_lines(tables));
  for (auto& [key, elements] : table_error_json(tables)) { sink.add_list("unseen_" + key, std::move(elements)); }
}

/// One after the other, so that the clusters of one only are in memory. Returns them without.
std::vector<Scenario> verify_published_steps(const VerifyOptions& options, const Streams& streams, ResultSink& sink,
                                             Outcome& outcome) {
  std::vector<Scenario> done;
  for (const std::string& path :
       scenarios_in((files::path(options.common.library.directory()) / "training").string())) {
    if (outcome.interrupted) { break; }
    Scenario& scenario = done.emplace_back(read_scenario(path, options.common.library, changes_of(options.scenario)));
    verify_scenario(scenario, options, streams, sink, outcome);
    scenario.traces = nullptr;
    for (Case& each : scenario.cases) {
      Case seeds;
      seeds.platform.seed = each.platform.seed;
      seeds.seeds = each.seeds;
      each = std::move(seeds);
    }
  }
  return done;
}

}  // namespace

ExitCode verify_all(const VerifyOptions& options, const Streams& streams) {
  if (!options.common.arguments.empty()) {
    throw UsageError(fmt::format("verify: '{}' beside --all, which takes all scenarios of a --directory",
                                 options.common.arguments.front()));
  }
  ResultSink sink(options.common, {options.scenario.csv}, streams);
  const bool published = !options.directory;
  const auto validation = files::path(options.common.library.directory()) / "validation";
  std::vector<Scenario> scenarios = read_scenarios(scenarios_in(published ? validation.string() : *options.directory),
                                                   options.common.library, changes_of(options.scenario));
  check_outputs(options.common);
  sink.print(version_line());
  Outcome outcome;
  for (const Scenario& each : scenarios) { verify_scenario(each, options, streams, sink, outcome); }
  const std::vector<TableErrors> tables = errors_of(outcome.tables);
  std::vector<TableErrors> unseen_tables;
  if (published) {
    std::vector<Scenario> unseen = unseen_scenarios(validation, options);
    for (const Scenario& each : unseen) { verify_scenario(each, options, streams, sink, outcome); }
    unseen_tables = errors_of(outcome.tables);
    std::move(unseen.begin(), unseen.end(), std::back_inserter(scenarios));
    for (Scenario& each : verify_published_steps(options, streams, sink, outcome)) {
      scenarios.push_back(std::move(each));
    }
  }
  if (!tables.empty()) { sink.print(table_error_lines(tables)); }
  report_unseen(unseen_tables, sink);
  sink.print(step_table_lines(outcome.steps));
  sink.add_list("training_steps", step_table_json(outcome.steps));
  for (auto& [key, elements] : table_error_json(tables)) { sink.add_list(key, std::move(elements)); }
  if (outcome.interrupted) { sink.print(interruption_line()); }
  sink.finish(scenarios, outcome.interrupted);
  if (outcome.interrupted) { return ExitCode::interrupted; }
  return outcome.failed ? ExitCode::above_threshold : ExitCode::ok;
}

}  // namespace athanor
