#include <fmt/core.h>

#include "sim/json/text.hpp"
#include "sim/printable.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/compare/contest_options.hpp"
#include "tools/command_line/compare/load_input.hpp"
#include "tools/command_line/output_choice.hpp"
#include "tools/compare/difference.hpp"
#include "tools/compare/text.hpp"
#include "tools/report/machine_readable.hpp"
#include "tools/report/table.hpp"

namespace athanor {

namespace {

/// The scenario of a contestant, where it is known and the contestants differ in it.
const nlohmann::json* scenario_of(const std::vector<LoadedInput>& inputs, const Contest& contest, std::size_t which) {
  const std::string& name = contest.contestants[which];
  for (const LoadedInput& each : inputs) {
    if (each.scenarios.empty() || (contest.by == "input" && each.input.label != name)) { continue; }
    const auto found = contest.by == "case" ? each.scenarios.find(name) : each.scenarios.begin();
    if (found != each.scenarios.end()) { return &found->second; }
  }
  return nullptr;
}

/// In what each contestant differs from the base, the first of it.
std::vector<std::string> first_differences(const std::vector<LoadedInput>& inputs, const Contest& contest) {
  std::vector<std::string> texts;
  if (contest.by != "input" && contest.by != "case") { return texts; }
  const nlohmann::json* base = scenario_of(inputs, contest, contest.base);
  for (std::size_t i = 0; base != nullptr && i < contest.contestants.size(); ++i) {
    const nlohmann::json* own = scenario_of(inputs, contest, i);
    if (i == contest.base || own == nullptr) { continue; }
    const std::vector<Difference> found = differences(*base, *own);
    if (found.empty()) {
      texts.push_back(fmt::format("{}: the same scenario", contest.contestants[i]));
      continue;
    }
    const Difference& first = found.front();
    texts.push_back(fmt::format("{}: {} is {}, of the base {}{}", contest.contestants[i], first.pointer,
                                first.second.empty() ? "absent" : first.second,
                                first.first.empty() ? "absent" : first.first,
                                found.size() > 1 ? fmt::format("; {} more", found.size() - 1) : ""));
  }
  return texts;
}

/// What each contestant costs on this line, and who is on the front.
void add_costs(const Contest& contest, const ContestLine& line, nlohmann::ordered_json& record,
               nlohmann::ordered_json& columns) {
  for (std::size_t i = 0; i < line.entries.size(); ++i) {
    const std::string column = fmt::format("{} {}", contest.contestants[i], contest.against);
    if (line.entries[i] && line.entries[i]->against) { record[column] = *line.entries[i]->against; }
    columns[column] = nullptr;
  }
  record["front"] = nlohmann::ordered_json::array();
  for (const std::size_t each : contest.front(line)) { record["front"].push_back(contest.contestants[each]); }
  columns["front"] = nullptr;
}

std::string csv_of(const Contest& contest) {
  std::vector<nlohmann::ordered_json> lines;
  nlohmann::ordered_json columns = nlohmann::ordered_json::object();
  for (const ContestLine& line : contest.lines) {
    nlohmann::ordered_json record = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < line.conditions.size(); ++i) { record[contest.conditions[i]] = line.conditions[i]; }
    for (std::size_t i = 0; i < line.entries.size(); ++i) {
      if (line.entries[i]) { record[contest.contestants[i]] = line.entries[i]->value; }
      columns[contest.contestants[i]] = nullptr;
    }
    if (!contest.against.empty()) { add_costs(contest, line, record, columns); }
    lines.push_back(std::move(record));
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const std::string& condition : contest.conditions) { all[condition] = nullptr; }
  all.update(columns);
  return csv_document(all, lines);
}

ExitCode compare(const Invocation& invocation, const Streams& streams) {
  const OutputChoice output(invocation, streams);
  std::vector<LoadedInput> inputs;
  std::vector<ComparedInput> compared;
  for (const std::string& path : invocation.arguments) {
    std::optional<LoadedInput> loaded = load_input(path, invocation, streams);
    if (!loaded) { return ExitCode::interrupted; }
    compared.push_back(loaded->input);
    inputs.push_back(std::move(*loaded));
  }
  const Contest result = contest(compared, contest_request(invocation));
  const std::vector<std::string> differing = first_differences(inputs, result);
  output.print(version_line() + contest_text(result));
  for (const std::string& each : differing) { output.print("# differs: " + printable(each) + "\n"); }
  output.write("json", [&] {
    nlohmann::ordered_json json = contest_json(result);
    json["differences"] = differing;
    return text_of(json, 2) + "\n";
  });
  output.write("csv", [&] { return csv_of(result); });
  return ExitCode::ok;
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "puts results side by side: ratios, who wins at which size, and where that changes",
          .arguments = "FILE...",
          .explanation =
              "Files are scenarios, which are simulated, results of --json, or sweeps. Of several files each is a\n"
              "contestant; of one its cases, or what a sweep varies first.\n",
          .example = "athanor compare scenarios/fabrics_1024.json --case \"fat tree\" --case rail-optimized",
          .least_arguments = 1,
          .most_arguments = SIZE_MAX,
          .options = &contest_options,
          .execute = &compare};
}

}  // namespace athanor
