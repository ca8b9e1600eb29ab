#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/json/text.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/output_file.hpp"
#include "tools/command_line/run/simulate_case.hpp"

namespace athanor {

namespace {

boost::program_options::options_description validate_options() {
  boost::program_options::options_description options("options");
  options.add_options()("set", boost::program_options::value<std::vector<std::string>>()->value_name("/POINTER=VALUE"),
                        "changes the scenario first; repeatable");
  return options;
}

/// What a case simulates: the section of the scenario that says so, and the choice that comes first in it.
std::pair<std::string, std::string_view> subject_of(const Case& each) {
  if (each.traffic) { return {"traffic", name(each.traffic->pattern)}; }
  if (each.parameter_server) { return {"parameter_server", name(each.parameter_server->setup.update)}; }
  if (each.training) { return {"training", each.training->setup.model.name}; }
  if (each.trace) { return {"trace", name(each.trace->trace->format)}; }
  return {"collective", name(each.kind)};
}

nlohmann::ordered_json to_json(const Scenario& scenario) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const Case& each : scenario.cases) {
    cases.push_back({{"name", each.name},
                     {"cluster", each.cluster->description},
                     {"ranks", each.ranks},
                     subject_of(each),
                     {"sizes", each.sizes.size()},
                     {"warnings", warnings_of(each)}});
    if (each.jobs) { cases.back()["jobs"] = each.jobs->jobs; }
  }
  return {{"path", scenario.path}, {"valid", true}, {"cases", cases}};
}

ExitCode validate(const Invocation& invocation, const Streams& streams) {
  const std::vector<Scenario> scenarios = read_scenarios(invocation);
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
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
  if (invocation.has("json")) {
    write_json(invocation, streams, text_of(nlohmann::ordered_json{{"results", results}}, 2));
  }
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
          .options = &validate_options,
          .execute = &validate};
}

}  // namespace athanor
