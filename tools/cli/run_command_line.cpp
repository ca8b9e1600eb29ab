#include "tools/cli/run_command_line.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/data_directory.hpp"
#include "tools/cli/errors.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/version.hpp"

namespace athanor {

namespace {

using Words = std::vector<std::string>;

const Command& find_command(const std::string& word) {
  std::vector<std::string> names{"help"};
  for (const Command& command : commands()) {
    if (command.name == word) { return command; }
    names.emplace_back(command.name);
  }
  const std::string near = nearest(word, names);
  throw UsageError(
      fmt::format("unknown {} '{}'; {}", word.starts_with("-") ? "option" : "command", word,
                  near.empty() ? "`athanor help` lists the commands" : fmt::format("did you mean '{}'?", near)));
}

ExitCode help(const Words& words, const Streams& streams) {
  if (words.size() > 1) { throw UsageError("help: one command at a time, as in `athanor help run`"); }
  const bool general = words.empty() || words[0] == "help";
  streams.out(general ? general_help() : command_help(find_command(words[0])));
  return ExitCode::ok;
}

ExitCode execute(const Command& command, const Words& arguments, const Streams& streams) {
  OptionFields fields(command.name);
  const PreparedCommand prepared = command.prepare(fields);
  CommonOptions& common = *prepared.common;
  read_options(command, Words(arguments.begin() + 1, arguments.end()), fields, common);
  if (common.help) {
    streams.out(command_help(command));
    return ExitCode::ok;
  }
  common.command_line = arguments;
  common.command_line.insert(common.command_line.begin(), "athanor");
  return prepared.execute(streams);
}

/// What a report of a fault should begin with.
ExitCode tell_version(const Streams& streams) {
  std::string data = "no presets, profiles and measurements are found";
  try {
    data = data_directory();
  } catch (const FileError&) {}  // that, too, is what one wants to know
  streams.out(fmt::format("athanor {} ({}, {})\n", version(), git_revision(), compiler()));
  streams.out(fmt::format("build: {}\ndata: {}\n", build_facts(), data));
  return ExitCode::ok;
}

ExitCode dispatch(const Words& arguments, const Streams& streams) {
  if (arguments.empty()) {
    streams.err(general_help());
    return ExitCode::usage;
  }
  const std::string& word = arguments[0];
  if (word == "--version") { return tell_version(streams); }
  if (word == "--help" || word == "-h") { return help({}, streams); }
  if (word == "help") { return help(Words(arguments.begin() + 1, arguments.end()), streams); }
  return execute(find_command(word), arguments, streams);
}

}  // namespace

std::span<const Command> commands() {
  static const std::array<Command, 21> all{
      run_command(),        sweep_command(),    compare_command(),  explain_command(),  plan_command(),
      synthesise_command(), verify_command(),   measure_command(),  numerics_command(), calibrate_command(),
      crosscheck_command(), validate_command(), describe_command(), list_command(),     schema_command(),
      plot_command(),       report_command(),   import_command(),   export_command(),   completion_command(),
      manual_command()};
  return all;
}

ExitCode run_command_line(const Words& arguments, const Streams& streams) {
  const ErrorReport report{streams, arguments};
  try {
    return dispatch(arguments, streams);
  } catch (...) {
    const Failure failure = current_failure();
    try {
      return report.end(failure.code, failure.problems);
    } catch (const FileError&) { return failure.code; }  // nothing can be written any more, not even what went wrong
  }
}

}  // namespace athanor
