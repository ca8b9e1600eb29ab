#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/words.hpp"
#include "tools/cli/options.hpp"

namespace athanor {

namespace {

std::string command_names() {
  std::vector<std::string_view> names{"help"};
  for (const Command& command : commands()) { names.push_back(command.name); }
  return fmt::format("{}", joined(names, " "));
}

/// Words of options; files behind all else. Needs nothing of the bash-completion package.
std::string bash() {
  std::string cases;
  for (const Command& command : commands()) {
    std::vector<std::string> words;
    for (const OptionGroup& group : option_groups(command)) {
      for (const OptionField& field : group.fields) { words.push_back("--" + field.name); }
    }
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, joined(words, " "));
  }
  return fmt::format(
      R"(# bash completion of athanor: athanor completion bash > ~/.local/share/bash-completion/completions/athanor
_athanor() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} commands="{}" words=""
  if [ "$COMP_CWORD" -eq 1 ] || [ "${{COMP_WORDS[1]}}" = help ]; then
    COMPREPLY=($(compgen -W "$commands --version --help" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _athanor athanor
)",
      command_names(), cases);
}

/// What stands between single quotes and brackets of zsh's _arguments.
std::string zsh_text(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') { quoted += '\\'; }
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted;
}

/// As zsh's _arguments takes it: a value may be needed, be left out, or not be there at all.
std::string zsh_option(const OptionField& option) {
  const std::string meaning = zsh_text(option.meaning);
  if (option.value.empty()) { return fmt::format("*--{}[{}]", option.name, meaning); }
  return option.value.starts_with('[') ? fmt::format("*--{}=-[{}]::file:_files", option.name, meaning)
                                       : fmt::format("*--{}=[{}]:value:_files", option.name, meaning);
}

std::string zsh() {
  std::string summaries;
  std::string cases;
  for (const Command& command : commands()) {
    summaries += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary));
    cases += fmt::format("    {})\n      _arguments -s \\\n", command.name);
    for (const OptionGroup& group : option_groups(command)) {
      for (const OptionField& field : group.fields) { cases += fmt::format("        '{}' \\\n", zsh_option(field)); }
    }
    cases += "        '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef athanor
# zsh completion of athanor: athanor completion zsh > a folder of $fpath, as the file _athanor
_athanor() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_athanor "$@"
)",
                     summaries, cases);
}

ExitCode completion(const NoOptions& options, const Streams& streams) {
  const std::string& shell = options.common.arguments.front();
  if (shell != "bash" && shell != "zsh") {
    throw UsageError(fmt::format("completion: there is none for '{}'; there are bash and zsh", shell));
  }
  streams.out(shell == "bash" ? bash() : zsh());
  return ExitCode::ok;
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "prints what makes a shell complete commands and options",
          .arguments = "SHELL",
          .explanation = "SHELL is bash or zsh. An installation has both in place already.\n",
          .example = "athanor completion bash",
          .least_arguments = 1,
          .most_arguments = 1,
          .prepare = &prepared<NoOptions, &completion>};
}

}  // namespace athanor
