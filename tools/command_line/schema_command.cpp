#include <nlohmann/json.hpp>

#include "tools/command_line/command.hpp"
#include "tools/command_line/output_file.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

namespace {

boost::program_options::options_description no_options() { return {}; }

ExitCode schema(const Invocation& invocation, const Streams& streams) {
  write_json(invocation, streams, scenario_schema(invocation.library).dump(2));
  return ExitCode::ok;
}

}  // namespace

Command schema_command() {
  return {
      .name = "schema",
      .summary = "prints the JSON Schema of scenarios",
      .arguments = "",
      .explanation = "Generated from the code that reads scenarios, for editors that complete and check as you type.\n",
      .example = "athanor schema > scenario.schema.json",
      .least_arguments = 0,
      .most_arguments = 0,
      .options = &no_options,
      .execute = &schema};
}

}  // namespace athanor
