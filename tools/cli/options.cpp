#include "tools/cli/options.hpp"

#include <boost/program_options/errors.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/cli/data_directory.hpp"

namespace athanor {

namespace options = boost::program_options;

namespace {

/// A hidden option takes what is no option.
options::options_description all_options(const Command& command) {
  options::options_description all;
  all.add(command.options()).add(common_options());
  all.add_options()("arguments", options::value<std::vector<std::string>>());
  return all;
}

options::variables_map parsed(const options::options_description& all, const std::vector<std::string>& words) {
  namespace style = options::command_line_style;
  options::positional_options_description positional;
  positional.add("arguments", -1);
  options::variables_map map;
  options::store(options::command_line_parser(words)
                     .options(all)
                     .positional(positional)
                     .style(style::unix_style & ~style::allow_guessing)
                     .run(),
                 map);
  return map;
}

std::string see_help(const Command& command) {
  return fmt::format("`athanor help {}` lists what there is", command.name);
}

[[noreturn]] void refuse_option(const Command& command, const std::string& word) {
  const options::options_description all = all_options(command);
  std::vector<std::string> known;
  for (const auto& option : all.options()) {
    if (option->long_name() != "arguments") { known.push_back("--" + option->long_name()); }
  }
  const std::string near = nearest(word, known);
  throw UsageError(fmt::format("{}: unknown option '{}'; {}", command.name, word,
                               near.empty() ? see_help(command) : fmt::format("did you mean '{}'?", near)));
}

void check_number_of_arguments(const Command& command, const Invocation& invocation) {
  const std::size_t given = invocation.arguments.size();
  if (given < command.least_arguments) {
    throw UsageError(fmt::format("{}: {} is missing, as in `{}`", command.name, command.arguments, command.example));
  }
  if (given > command.most_arguments) {
    throw UsageError(fmt::format("{}: '{}' is one argument too many; {}", command.name,
                                 invocation.arguments[command.most_arguments], see_help(command)));
  }
}

}  // namespace

options::options_description common_options() {
  options::options_description common("options of every command");
  auto add = common.add_options();
  add("help,h", "this text");
  add("json", options::value<std::string>()->implicit_value("")->value_name("[=FILE]"),
      "results and errors as JSON on stdout, or results in FILE");
  add("quiet,q", "no progress, notes and warnings");
  add("verbose,v", "what the simulation did, on stderr");
  add("data", options::value<std::string>()->value_name("DIR"),
      "where presets/, profiles/ and measurements/ are (also: ATHANOR_DATA)");
  return common;
}

options::options_description simulation_options() {
  options::options_description simulation("options");
  auto add = simulation.add_options();
  add("set", options::value<std::vector<std::string>>()->value_name("/POINTER=VALUE"),
      "changes the scenario, as in --set /collective/channels=4; repeatable");
  add("sizes", options::value<std::string>()->value_name("SIZES"),
      "instead of the scenario's: 1MiB..1GiB or 1KiB,3MiB");
  add("case", options::value<std::vector<std::string>>()->value_name("NAME"), "only this case; repeatable");
  add("seed", options::value<std::string>()->value_name("N"), "instead of the scenario's");
  add("csv", options::value<std::string>()->implicit_value("")->value_name("[=FILE]"),
      "results as CSV on stdout or in FILE");
  add("no-classes", "simulates every agent instead of one of each class (same result, slower)");
  add("no-repeat", "simulates every loop instead of multiplying those that repeat (same result, slower)");
  return simulation;
}

Invocation parse(const Command& command, const std::vector<std::string>& words) {
  Invocation invocation{{}, {}, {}, Library("")};
  try {
    invocation.options = parsed(all_options(command), words);
  } catch (const options::unknown_option& error) {
    refuse_option(command, error.get_option_name());
  } catch (const options::error& error) {
    throw UsageError(fmt::format("{}: {}; {}", command.name, error.what(), see_help(command)));
  }
  if (invocation.has("arguments")) {
    invocation.arguments = invocation.options["arguments"].as<std::vector<std::string>>();
  }
  invocation.quiet = invocation.has("quiet");
  invocation.verbose = invocation.has("verbose");
  if (invocation.has("help")) { return invocation; }
  check_number_of_arguments(command, invocation);
  invocation.library = Library(invocation.has("data") ? invocation.text("data") : data_directory());
  return invocation;
}

}  // namespace athanor
