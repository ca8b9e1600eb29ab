#include "tools/cli/options.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <boost/program_options/variables_map.hpp>
#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/cli/data_directory.hpp"

namespace athanor {

namespace options = boost::program_options;

namespace {

using Words = std::vector<std::string>;

options::options_description described(const OptionGroup& group) {
  options::options_description result(group.fields.empty() ? "" : group.heading);
  for (const OptionField& field : group.fields) {
    const std::string names = field.letter.empty() ? field.name : field.name + "," + field.letter;
    if (field.value.empty()) {
      result.add_options()(names.c_str(), field.meaning.c_str());
    } else if (field.repeatable) {
      result.add_options()(names.c_str(), options::value<Words>()->value_name(field.value), field.meaning.c_str());
    } else {
      auto* const value = options::value<std::string>()->value_name(field.value);
      if (!field.absent.empty()) { value->default_value(field.absent); }
      result.add_options()(names.c_str(), value, field.meaning.c_str());
    }
  }
  return result;
}

/// A hidden option takes what is no option.
options::options_description described(const OptionFields& fields) {
  options::options_description all;
  for (const OptionGroup& group : fields.groups()) { all.add(described(group)); }
  all.add_options()("arguments", options::value<Words>());
  return all;
}

bool may_lack_value(const OptionField& field) { return field.value.starts_with('['); }

/// Stands for a value that is left out: no user can write it.
constexpr std::string_view kNoValue("\0", 1);

/// Options whose value may be left out have it behind '=' alone: for Boost the next word would be it, which names a
/// file.
Words with_values(Words words, const OptionFields& fields) {
  std::set<std::string> lacking;
  for (const OptionGroup& group : fields.groups()) {
    for (const OptionField& field : group.fields) {
      if (may_lack_value(field)) { lacking.insert("--" + field.name); }
    }
  }
  for (std::string& word : words) {
    if (word == "--") { break; }
    if (lacking.contains(word)) { word.append("=").append(kNoValue); }
  }
  return words;
}

std::string value_of(const options::variable_value& value) {
  const auto& text = value.as<std::string>();
  return text == kNoValue ? "" : text;
}

options::variables_map parsed(const options::options_description& all, const Words& words) {
  namespace style = options::command_line_style;
  options::positional_options_description positional;
  positional.add("arguments", -1);
  options::variables_map map;
  options::store(options::command_line_parser(words)
                     .options(all)
                     .positional(positional)
                     .style(style::unix_style & ~style::allow_guessing)
                     .run(),
                 map);
  return map;
}

std::string see_help(const Command& command) {
  return fmt::format("`athanor help {}` lists what there is", command.name);
}

[[noreturn]] void refuse_option(const Command& command, const OptionFields& fields, const std::string& word) {
  Words known;
  for (const OptionGroup& group : fields.groups()) {
    for (const OptionField& field : group.fields) { known.push_back("--" + field.name); }
  }
  const std::string near = nearest(word, known);
  throw UsageError(fmt::format("{}: unknown option '{}'; {}", command.name, word,
                               near.empty() ? see_help(command) : fmt::format("did you mean '{}'?", near)));
}

void check_number_of_arguments(const Command& command, const Words& arguments) {
  if (arguments.size() < command.least_arguments) {
    throw UsageError(fmt::format("{}: {} is missing, as in `{}`", command.name, command.arguments, command.example));
  }
  if (arguments.size() > command.most_arguments) {
    throw UsageError(fmt::format("{}: '{}' is one argument too many; {}", command.name,
                                 arguments[command.most_arguments], see_help(command)));
  }
}

/// What is written must not take the place of what is read.
void check_output(const std::string& option, const std::string& output, const std::string& input) {
  std::error_code absent;
  if (!std::filesystem::equivalent(input, output, absent) || absent) { return; }
  throw UsageError(
      fmt::format("--{} {} would replace a file that the command reads; choose another name", option, output));
}

/// Nor the place of what is written beside it. Devices such as /dev/null take everything.
void add_output(const std::string& option, const std::string& output, std::map<std::string, std::string>& outputs) {
  std::error_code ignored;
  const bool device = std::filesystem::exists(output, ignored) && !std::filesystem::is_regular_file(output, ignored);
  if (output.empty() || device) { return; }
  const auto path = std::filesystem::weakly_canonical(output, ignored);
  for (const auto& [other, written] : outputs) {
    if (std::filesystem::weakly_canonical(written, ignored) != path) { continue; }
    throw UsageError(
        fmt::format("--{} and --{} would both write {}; choose another name for one of them", other, option, output));
  }
  outputs.emplace(option, output);
}

/// Hands on what was given of one option.
void take(const OptionField& field, const options::variable_value& value) {
  if (field.value.empty()) {
    field.take("");
  } else if (field.repeatable) {
    for (const std::string& each : value.as<Words>()) { field.take(each); }
  } else {
    field.take(value_of(value));
  }
}

std::string text_of(const options::options_description& description) {
  std::ostringstream text;
  text << description;
  return text.str();
}

}  // namespace

void read_options(const Command& command, const Words& words, const OptionFields& fields, CommonOptions& common) {
  options::variables_map map;
  try {
    map = parsed(described(fields), with_values(words, fields));
  } catch (const options::unknown_option& error) {
    refuse_option(command, fields, error.get_option_name());
  } catch (const options::error& error) {
    throw UsageError(fmt::format("{}: {}; {}", command.name, error.what(), see_help(command)));
  }
  common.help = map.count("help") > 0;
  if (common.help) { return; }
  if (map.count("arguments") > 0) { common.arguments = map["arguments"].as<Words>(); }
  check_number_of_arguments(command, common.arguments);
  for (const OptionGroup& group : fields.groups()) {
    for (const OptionField& field : group.fields) {
      if (map.count(field.name) == 0 || map[field.name].defaulted()) { continue; }
      take(field, map[field.name]);
      if (field.writes_file) {
        const std::string output = value_of(map[field.name]);
        for (const std::string& input : common.arguments) { check_output(field.name, output, input); }
        add_output(field.name, output, common.outputs);
      }
      if (&group != &fields.groups().back()) { common.given.push_back(field.name); }
    }
  }
  common.library = Library(common.data ? *common.data : data_directory());
}

void check_outputs(const CommonOptions& common) {
  for (const ReadFile& input : common.library.files().files()) {
    for (const auto& [option, output] : common.outputs) { check_output(option, output, input.path); }
  }
}

void visit(OptionFields& fields, CommonOptions& common) {
  fields.flag("help,h", common.help, "this text");
  fields.written_file_or_stdout("json", common.json, "results and errors as JSON on stdout, or results in FILE");
  fields.flag("quiet,q", common.quiet, "no progress, notes and warnings");
  fields.flag("verbose,v", common.verbose, "what the simulation did, on stderr");
  fields.text("data", "DIR", common.data, "where presets/, profiles/ and measurements/ are (also: ATHANOR_DATA)");
}

void allow_only(const CommonOptions& common, std::string_view command, std::span<const std::string_view> allowed,
                std::string_view advice) {
  for (const std::string& option : common.given) {
    if (std::find(allowed.begin(), allowed.end(), option) != allowed.end()) { continue; }
    throw UsageError(fmt::format("{}: --{} {}", command, option, advice));
  }
}

std::vector<OptionGroup> option_groups(const Command& command) {
  OptionFields fields(command.name);
  command.prepare(fields);
  return fields.groups();
}

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
  const std::vector<OptionGroup> groups = option_groups(command);
  options::options_description own = described(groups.front());
  for (std::size_t i = 1; i + 1 < groups.size(); ++i) { own.add(described(groups[i])); }
  return fmt::format("athanor {}: {}\n\nusage: athanor {} [OPTION...]{}{}\n\n{}\n{}\n{}\nexample:\n  {}\n",
                     command.name, command.summary, command.name, command.arguments.empty() ? "" : " ",
                     command.arguments, command.explanation, text_of(own), text_of(described(groups.back())),
                     command.example);
}

}  // namespace athanor
