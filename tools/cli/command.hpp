#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/library/library.hpp"
#include "tools/cli/exit_code.hpp"
#include "tools/cli/option_fields.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

/// What every command is given: the options that all of them have, and the words that are no options.
struct CommonOptions {
  std::optional<std::string> json;  ///< a file; "": standard output
  bool quiet = false;
  bool verbose = false;
  bool help = false;
  std::optional<std::string> data;

  std::vector<std::string> arguments;          ///< what is no option, in order
  std::vector<std::string> command_line;       ///< everything, the program's name first
  std::vector<std::string> given;              ///< names of the command's own options that were given
  std::map<std::string, std::string> outputs;  ///< files that options name to be written, by the option's name
  Library library{""};                         ///< knows what the command has read
};
void visit(OptionFields& fields, CommonOptions& options);

/// Throws UsageError where an option names a file to be written that the command has read: a preset, a measurement, a
/// trace. To be called when all is read.
void check_outputs(const CommonOptions& common);

/// Of a command that has none of its own.
struct NoOptions {
  CommonOptions common;
};
inline void visit(OptionFields& /*fields*/, NoOptions& /*options*/) {}

/// A command about to be carried out. The fields that it was prepared with lead into its options.
struct PreparedCommand {
  CommonOptions* common = nullptr;  ///< lives as long as `execute`
  std::function<ExitCode(const Streams& streams)> execute;
};

/// One thing that athanor does.
struct Command {
  std::string_view name;
  std::string_view summary;    ///< one line
  std::string_view arguments;  ///< "SCENARIO..."
  std::string_view explanation;
  std::string_view example;
  std::size_t least_arguments = 0;
  std::size_t most_arguments = 0;
  /// Adds its own options to `fields`, then those of every command.
  PreparedCommand (*prepare)(OptionFields& fields);
};

/// `prepare` of a command with these options, a struct that has `CommonOptions common`.
template <class Options, ExitCode (*kExecute)(const Options&, const Streams&)>
PreparedCommand prepared(OptionFields& fields) {
  const auto options = std::make_shared<Options>();
  visit(fields, *options);
  fields.group("options of every command");
  visit(fields, options->common);
  return {&options->common, [options](const Streams& streams) { return kExecute(*options, streams); }};
}

Command run_command();
Command sweep_command();
Command compare_command();
Command explain_command();
Command verify_command();
Command validate_command();
Command describe_command();
Command list_command();
Command schema_command();
Command completion_command();
Command manual_command();
Command plot_command();
Command report_command();
Command measure_command();
Command numerics_command();
Command plan_command();
Command synthesise_command();
Command calibrate_command();
Command crosscheck_command();
Command import_command();
Command export_command();

/// In the order of the help text.
std::span<const Command> commands();

}  // namespace athanor
