#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>

#include "models/library/library.hpp"
#include "sim/file.hpp"
#include "tools/cli/exit_code.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

/// A command with its options, as the user gave them.
struct Invocation {
  boost::program_options::variables_map options;
  std::vector<std::string> arguments;     ///< what is no option, in order
  std::vector<std::string> command_line;  ///< everything, the program's name first
  Library library;
  bool quiet = false;
  bool verbose = false;
  const ReadLog* read_log = nullptr;  ///< of the files that the command reads; null: nobody asks

  bool has(const char* option) const { return options.count(option) > 0; }
  std::string text(const char* option) const { return options[option].as<std::string>(); }
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
  boost::program_options::options_description (*options)();
  ExitCode (*execute)(const Invocation& invocation, const Streams& streams);
};

/// Of a command that has none of its own.
inline boost::program_options::options_description no_options() { return {}; }

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
Command calibrate_command();
Command import_command();
Command export_command();

/// In the order of the help text.
std::span<const Command> commands();

}  // namespace athanor
