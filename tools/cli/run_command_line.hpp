#pragma once

#include <string>
#include <vector>

#include "tools/cli/exit_code.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

/// All of athanor but the process around it. `arguments`: without the program's name. Never throws for what users do:
/// every error is printed, as JSON too where --json is among the arguments, and becomes the exit code.
ExitCode run_command_line(const std::vector<std::string>& arguments, const Streams& streams);

}  // namespace athanor
