#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/command.hpp"

namespace athanor {

/// Reads `words`, what follows the command's name, into the options that the fields lead to. Throws UsageError: unknown
/// option (with the nearest), missing or unwanted value, too few or too many arguments; and as the fields. With --help
/// nothing but that is read.
void read_options(const Command& command, const std::vector<std::string>& words, const OptionFields& fields,
                  CommonOptions& common);

/// Throws UsageError "COMMAND: --OPTION ADVICE" where an option was given that is neither one of `allowed` nor one of
/// those that every command has.
void allow_only(const CommonOptions& common, std::string_view command, std::span<const std::string_view> allowed,
                std::string_view advice);

/// The options of a command, those of every command last, for what shows them. Their fields lead nowhere.
std::vector<OptionGroup> option_groups(const Command& command);

/// What `athanor --help` prints: every command in a line, and how commands end.
std::string general_help();

/// What `athanor help COMMAND` prints: usage, options and an example.
std::string command_help(const Command& command);

}  // namespace athanor
