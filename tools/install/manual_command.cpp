#include <fmt/core.h>

#include "tools/cli/options.hpp"
#include "tools/cli/version.hpp"

namespace athanor {

namespace {

/// Text in troff: backslashes and dashes are not its own, and no line begins a request.
std::string troff(std::string_view text) {
  std::string result;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) { result += "\\&"; }
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    begins = c == '\n';
  }
  return result;
}

/// Behind the name: "", " FILE", "[=FILE]" or " DIR (=plots)".
std::string value_text(const OptionField& option) {
  if (option.value.empty()) { return ""; }
  const std::string absent = option.absent.empty() ? "" : fmt::format(" (={})", option.absent);
  return fmt::format("{}\\fI{}\\fR", option.value.starts_with('[') ? "" : " ", troff(option.value + absent));
}

std::string options_text(const OptionGroup& group) {
  std::string text;
  for (const OptionField& option : group.fields) {
    const std::string letter = option.letter.empty() ? "" : troff(fmt::format("-{}, ", option.letter));
    text += fmt::format(".TP\n\\fB{}{}\\fR{}\n{}\n", letter, troff("--" + option.name), value_text(option),
                        troff(option.meaning));
  }
  return text;
}

std::string command_text(const Command& command) {
  std::string text = fmt::format(".SS \"athanor {} [OPTION...]{}{}\"\n{}.\n.PP\n{}", command.name,
                                 command.arguments.empty() ? "" : " ", troff(command.arguments), troff(command.summary),
                                 troff(command.explanation));
  const std::vector<OptionGroup> groups = option_groups(command);
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) { text += options_text(groups[i]); }
  return text + fmt::format(".PP\nExample:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", troff(command.example));
}

ExitCode manual(const NoOptions& /*options*/, const Streams& streams) {
  std::string text = fmt::format(
      ".TH ATHANOR 1 \"\" \"athanor {}\" \"User Commands\"\n"
      ".SH NAME\nathanor \\- simulates collectives and training steps on clusters of GPUs\n"
      ".SH SYNOPSIS\n.B athanor\nCOMMAND [OPTION...] [ARGUMENT...]\n"
      ".SH DESCRIPTION\n"
      "From a scenario file it simulates collectives, traffic and training steps on a modelled cluster: how long do "
      "they\n"
      "take, what limits them, and what would another fabric, algorithm or engine in the network change?\n"
      ".SH COMMANDS\n",
      version());
  for (const Command& command : commands()) { text += command_text(command); }
  text += ".SH \"OPTIONS OF EVERY COMMAND\"\n";
  text += options_text(option_groups(manual_command()).back());
  text +=
      ".SH \"EXIT STATUS\"\n0 ok, 1 simulation failed, 2 usage, 3 scenario invalid, 4 input or output,\n"
      "5 verification above its threshold, 6 training that does not fit (run --strict), 130 interrupted\n"
      ".SH ENVIRONMENT\n.TP\n.B ATHANOR_DATA\nwhere presets/, profiles/ and measurements/ are\n"
      ".TP\n.B ATHANOR_PYTHON\nthe Python that draws; else the first that has matplotlib of python3 and "
      "/usr/bin/python3\n"
      ".TP\n.B NO_COLOR\nno colours on a terminal\n";
  streams.out(text);
  return ExitCode::ok;
}

}  // namespace

Command manual_command() {
  return {.name = "manual",
          .summary = "prints the manual page",
          .arguments = "",
          .explanation = "All commands with their options, in the format of man(1). An installation has it already.\n",
          .example = "athanor manual > athanor.1",
          .least_arguments = 0,
          .most_arguments = 0,
          .prepare = &prepared<NoOptions, &manual>};
}

}  // namespace athanor
