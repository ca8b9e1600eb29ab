#pragma once

#include <string>
#include <vector>

#include "tools/cli/command.hpp"

namespace athanor {

/// What every command understands: --help, --json, --quiet, --verbose, --data.
boost::program_options::options_description common_options();

/// What run and verify have in common: --set, --seed, --sizes, --case, --csv, --no-classes, --no-repeat.
boost::program_options::options_description simulation_options();

/// `words`: what follows the command's name. Throws UsageError: unknown option (with the nearest), missing or unwanted
/// value, too few or too many arguments.
Invocation parse(const Command& command, const std::vector<std::string>& words);

}  // namespace athanor
