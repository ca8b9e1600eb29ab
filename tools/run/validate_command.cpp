#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/cli/read_scenarios.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

boost::program_options::options_description validate_options() {
  boost::program_options::options_description options("options");
  auto add = options.add_options();
  add("set", boost::program_options::value<std::vector<std::string>>()->value_name("/POINTER=VALUE"),
      "changes the scenario first; repeatable");
  add("case", boost::program_options::value<std::vector<std::string>>()->value_name("NAME"),
      "only this case; repeatable");
  add("sizes", boost::program_options::value<std::string>()->value_name("SIZES"), "in place of the scenario's");
  add("seed", boost::program_options::value<std::string>()->value_name("SEED"), "in place of the scenario's");
  add("resolved", boost::program_options::value<std::string>()->implicit_value("")->value_name("[=FILE]"),
      "the scenario with its defaults and profiles written out, on stdout or in FILE");
  return options;
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

ExitCode resolve(const Invocation& invocation, const Streams& streams) {
  if (invocation.arguments.size() > 1) { throw UsageError("validate: --resolved: one scenario at a time"); }
  if (invocation.has("json")) { throw UsageError("validate: --resolved is JSON itself; leave --json out"); }
  const std::string path = invocation.text("resolved");
  if (!path.empty()) { check_writable(path); }
  const JsonValue scenario =
      resolved_scenario(invocation.arguments.front(), invocation.library, changes_of(invocation));
  const std::string text = text_of(scenario, 2) + "\n";
  if (path.empty()) {
    streams.out(text);
  } else {
    write_text_file(path, text);
  }
  return ExitCode::ok;
}

ExitCode validate(const Invocation& invocation, const Streams& streams) {
  if (invocation.has("resolved")) { return resolve(invocation, streams); }
  const std::vector<Scenario> scenarios = read_scenarios(invocation);
  JsonValue results = JsonValue::list();
  for (const Scenario& scenario : scenarios) {
    results.push_back(to_json(scenario));
    if (invocation.has("json")) { continue; }
    streams.out(fmt::format("{}: valid, {} {}\n", scenario.path, scenario.cases.size(),
                            scenario.cases.size() == 1 ? "case" : "cases"));
    for (const Case& each : scenario.cases) {
      if (invocation.quiet) { continue; }
      for (const std::string& warning : warnings_of(each)) { warn(streams, warning); }
    }
  }
  if (invocation.has("json")) { write_json(invocation, streams, text_of(JsonValue{{"results", results}}, 2)); }
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
          .options = &validate_options,
          .execute = &validate};
}

}  // namespace athanor
