#pragma once

#include <string>
#include <vector>

#include "tools/cli/command.hpp"

namespace athanor {

/// An option as shells and manuals show it.
struct OptionName {
  std::string name;     ///< "--sizes"
  std::string shorter;  ///< "-o"; "": none
  std::string value;    ///< "FILE", "[=FILE]"; "": a switch
  std::string meaning;
};

/// Those of the command, then those of every command.
std::vector<OptionName> option_names(const Command& command);

}  // namespace athanor
