#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/experiments/scenario/measurement.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "sim/config/text.hpp"
#include "sim/error.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/output_file.hpp"

namespace athanor {

namespace {

ExitCode schema(const Invocation& invocation, const Streams& streams) {
  const std::string of = invocation.arguments.empty() ? "scenario" : invocation.arguments[0];
  if (of == "scenario") {
    write_json(invocation, streams, text_of(scenario_schema(invocation.library), 2));
  } else if (of == "measurement") {
    write_json(invocation, streams, text_of(measurement_schema(), 2));
  } else {
    const std::string near = nearest(of, {"scenario", "measurement"});
    throw UsageError(
        fmt::format("schema: there is no schema of '{}'; {}", of,
                    near.empty() ? "choose scenario or measurement" : fmt::format("did you mean '{}'?", near)));
  }
  return ExitCode::ok;
}

}  // namespace

Command schema_command() {
  return {.name = "schema",
          .summary = "prints the JSON Schema of scenarios or measurements",
          .arguments = "[scenario|measurement]",
          .explanation = "Generated from the code that reads them, for editors that complete and check as you type.\n",
          .example = "athanor schema > scenario.schema.json",
          .least_arguments = 0,
          .most_arguments = 1,
          .options = &no_options,
          .execute = &schema};
}

}  // namespace athanor
