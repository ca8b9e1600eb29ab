#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

struct ValidateOptions {
  CommonOptions common;
  ScenarioOptions scenario;
};

void visit(OptionFields& fields, ValidateOptions& options) {
  fields.texts("set", "/POINTER=VALUE", options.scenario.settings, "changes the scenario first; repeatable");
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

ExitCode validate(const ValidateOptions& options, const Streams& streams) {
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
          .explanation = "Reports every problem of every file in one pass, with its line, column and JSON pointer.\n",
          .example = "athanor validate scenarios/*.json",
          .least_arguments = 1,
          .most_arguments = SIZE_MAX,
          .prepare = &prepared<ValidateOptions, &validate>};
}

}  // namespace athanor
