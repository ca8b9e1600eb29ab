#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

struct ValidateOptions {
  CommonOptions common;
  ScenarioOptions scenario;
  std::optional<std::string> resolved;  ///< a file; "": standard output
};

void visit(OptionFields& fields, ValidateOptions& options) {
  fields.texts("set", "/POINTER=VALUE", options.scenario.settings, "changes the scenario first; repeatable");
  fields.texts("case", "NAME", options.scenario.cases, "only this case; repeatable");
  fields.text("sizes", "SIZES", options.scenario.sizes, "in place of the scenario's");
  fields.text("seed", "SEED", options.scenario.seed, "in place of the scenario's");
  fields.written_file_or_stdout("resolved", options.resolved,
                                "the scenario with its defaults and profiles written out, on stdout or in FILE");
}

JsonValue to_json(const Scenario& scenario) {
  JsonValue cases = JsonValue::list();
  for (const Case& each : scenario.cases) {
    const Experiment& experiment = *each.experiment;
    cases.push_back({{"name", each.name},
                     {"cluster", each.platform.cluster->description},
                     {"ranks", experiment.ranks()},
                     {experiment.subject(), experiment.variant()},
                     {"sizes", experiment.sizes().size()},
                     {"warnings", warnings_of(each)}});
    if (experiment.jobs() > 0) { cases.back()["jobs"] = experiment.jobs(); }
  }
  return {{"path", scenario.path}, {"valid", true}, {"cases", cases}};
}

ExitCode resolve(const ValidateOptions& options, const Streams& streams) {
  const CommonOptions& common = options.common;
  if (common.arguments.size() > 1) { throw UsageError("validate: --resolved: one scenario at a time"); }
  if (common.json) { throw UsageError("validate: --resolved is JSON itself; leave --json out"); }
  if (!options.resolved->empty()) { check_writable(*options.resolved); }
  const JsonValue scenario = resolved_scenario(common.arguments.front(), common.library, changes_of(options.scenario));
  const std::string text = text_of(scenario, 2) + "\n";
  if (options.resolved->empty()) {
    streams.out(text);
  } else {
    write_text_file(*options.resolved, text);
  }
  return ExitCode::ok;
}

ExitCode validate(const ValidateOptions& options, const Streams& streams) {
  if (options.resolved) { return resolve(options, streams); }
  const CommonOptions& common = options.common;
  const std::vector<Scenario> scenarios = read_scenarios(common, options.scenario);
  JsonValue results = JsonValue::list();
  for (const Scenario& scenario : scenarios) {
    results.push_back(to_json(scenario));
    if (common.json) { continue; }
    streams.out(fmt::format("{}: valid, {} {}\n", scenario.path, scenario.cases.size(),
                            scenario.cases.size() == 1 ? "case" : "cases"));
    for (const Case& each : scenario.cases) {
      if (common.quiet) { continue; }
      for (const std::string& warning : warnings_of(each)) { warn(streams, warning); }
    }
  }
  if (common.json) { write_json(common, streams, text_of(JsonValue{{"results", results}}, 2)); }
  return ExitCode::ok;
}

}  // namespace

Command validate_command() {
  return {.name = "validate",
          .summary = "checks scenarios without running them",
          .arguments = "SCENARIO...",
          .explanation =
              "Reports every problem of every file in one pass, with its line, column and JSON pointer.\n"
              "With --resolved one scenario is written out instead: changes applied, every case whole, with\n"
              "all defaults that have an effect and with profiles in place of their names. Keep it in the\n"
              "folder of the first one: files that it names, and presets, keep their names.\n",
          .example = "athanor validate scenarios/*.json",
          .least_arguments = 1,
          .most_arguments = SIZE_MAX,
          .prepare = &prepared<ValidateOptions, &validate>};
}

}  // namespace athanor
