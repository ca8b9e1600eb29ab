#include "tools/cli/help.hpp"

#include <sstream>

#include <fmt/core.h>

#include "tools/cli/options.hpp"

namespace athanor {

namespace {

std::string rendered(const boost::program_options::options_description& options) {
  std::ostringstream text;
  text << options;
  return text.str();
}

}  // namespace

std::string general_help() {
  std::string text =
      "athanor: how long will this collective take on that GPU cluster, and what limits it?\n\n"
      "usage: athanor COMMAND [OPTION...] [ARGUMENT...]\n\ncommands:\n";
  for (const Command& command : commands()) { text += fmt::format("  {:<10} {}\n", command.name, command.summary); }
  return text +
         "  help       explains a command\n\n"
         "`athanor help COMMAND` shows its options and an example; `athanor --version` names this build.\n\n"
         "example:\n  athanor run scenarios/quickstart.json\n\n"
         "exit codes: 0 ok, 1 simulation failed, 2 usage, 3 scenario invalid, 4 input or output,\n"
         "            5 verification above its threshold, 6 training that does not fit (run --strict),\n"
         "            130 interrupted\n";
}

std::string command_help(const Command& command) {
  return fmt::format("athanor {}: {}\n\nusage: athanor {} [OPTION...]{}{}\n\n{}\n{}\n{}\nexample:\n  {}\n",
                     command.name, command.summary, command.name, command.arguments.empty() ? "" : " ",
                     command.arguments, command.explanation, rendered(command.options()), rendered(common_options()),
                     command.example);
}

}  // namespace athanor
