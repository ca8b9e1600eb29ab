#pragma once

#include <string>

#include "tools/cli/command.hpp"

namespace athanor {

/// What `athanor --help` prints: every command in a line, and how commands end.
std::string general_help();

/// What `athanor help COMMAND` prints: usage, options and an example.
std::string command_help(const Command& command);

}  // namespace athanor
