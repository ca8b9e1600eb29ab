#include <fmt/core.h>

#include "models/experiments/scenario/measurement.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "sim/error.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/output.hpp"

namespace athanor {

namespace {

ExitCode schema(const NoOptions& options, const Streams& streams) {
  const CommonOptions& common = options.common;
  const std::string of = common.arguments.empty() ? "scenario" : common.arguments[0];
  if (of == "scenario") {
    write_json(common, streams, text_of(scenario_schema(common.library), 2));
  } else if (of == "measurement") {
    write_json(common, streams, text_of(measurement_schema(), 2));
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
          .prepare = &prepared<NoOptions, &schema>};
}

}  // namespace athanor
