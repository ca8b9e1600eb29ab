#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"
#include "sim/printable.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/output.hpp"
#include "tools/compare/difference.hpp"
#include "tools/compare/load_input.hpp"
#include "tools/compare/text.hpp"
#include "tools/compare/what_if.hpp"

namespace athanor {

namespace {

/// The scenario of an alternative, where it is known and the alternatives differ in it.
const JsonValue* scenario_of(const std::vector<LoadedInput>& inputs, const Comparison& comparison, std::size_t which) {
  const std::string& name = comparison.alternatives[which];
  for (const LoadedInput& each : inputs) {
    if (each.scenarios.empty() || (comparison.by == "input" && each.input.label != name)) { continue; }
    const auto found = comparison.by == "case" ? each.scenarios.find(name) : each.scenarios.begin();
    if (found != each.scenarios.end()) { return &found->second; }
  }
  return nullptr;
}

/// In what each alternative differs from the base, the first of it.
std::vector<std::string> first_differences(const std::vector<LoadedInput>& inputs, const Comparison& comparison) {
  std::vector<std::string> texts;
  if (comparison.by != "input" && comparison.by != "case") { return texts; }
  const JsonValue* base = scenario_of(inputs, comparison, comparison.base);
  for (std::size_t i = 0; base != nullptr && i < comparison.alternatives.size(); ++i) {
    const JsonValue* own = scenario_of(inputs, comparison, i);
    if (i == comparison.base || own == nullptr) { continue; }
    const std::vector<Difference> found = differences(*base, *own);
    if (found.empty()) {
      texts.push_back(fmt::format("{}: the same scenario", comparison.alternatives[i]));
      continue;
    }
    const Difference& first = found.front();
    texts.push_back(fmt::format("{}: {} is {}, of the base {}{}", comparison.alternatives[i], first.pointer,
                                first.second.empty() ? "absent" : first.second,
                                first.first.empty() ? "absent" : first.first,
                                found.size() > 1 ? fmt::format("; {} more", found.size() - 1) : ""));
  }
  return texts;
}

/// Every column, each once, in the order in which lines have them.
std::vector<std::string> csv_columns(const Comparison& comparison) {
  std::vector<std::string> columns = comparison.conditions;
  const auto add = [&](const std::string& column) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) { columns.push_back(column); }
  };
  for (const std::string& each : comparison.alternatives) { add(each); }
  add("winner");
  add("certainty");
  if (comparison.against.empty()) { return columns; }
  for (const std::string& each : comparison.alternatives) { add(fmt::format("{} {}", each, comparison.against)); }
  add("front");
  return columns;
}

JsonValue csv_line(const Comparison& comparison, const ComparisonLine& line) {
  JsonValue record = JsonValue::object();
  for (std::size_t i = 0; i < line.conditions.size(); ++i) { record[comparison.conditions[i]] = line.conditions[i]; }
  for (std::size_t i = 0; i < line.entries.size(); ++i) {
    const std::string& alternative = comparison.alternatives[i];
    if (!line.entries[i]) { continue; }
    record[alternative] = line.entries[i]->value;
    if (line.entries[i]->against) {
      record[fmt::format("{} {}", alternative, comparison.against)] = *line.entries[i]->against;
    }
  }
  if (line.winners.size() == 1) { record["winner"] = comparison.alternatives[line.winners.front()]; }
  if (line.certainty) { record["certainty"] = *line.certainty; }
  if (comparison.against.empty()) { return record; }
  record["front"] = JsonValue::list();
  for (const std::size_t each : comparison.front(line)) { record["front"].push_back(comparison.alternatives[each]); }
  return record;
}

std::string csv_of(const Comparison& comparison) {
  std::vector<JsonValue> lines;
  for (const ComparisonLine& line : comparison.lines) { lines.push_back(csv_line(comparison, line)); }
  return csv_document(csv_columns(comparison), lines);
}

struct CompareOptions {
  CommonOptions common;
  ComparisonOptions comparison;
  std::vector<std::string> with;
};

void visit(OptionFields& fields, CompareOptions& options) {
  visit(fields, options.comparison);
  fields.texts("with", "WHAT", options.with,
               "the scenario as it is, and with this: engines in its switches (sharp_v3; with NCCL its CollNet), or "
               "what --set takes, linked by ';'; repeatable");
}

/// None: interrupted.
std::optional<std::vector<LoadedInput>> load_all(const CompareOptions& options, const Streams& streams) {
  if (!options.with.empty()) { return load_with_changes(options.with, options.comparison, options.common, streams); }
  std::vector<LoadedInput> inputs;
  for (const std::string& path : options.common.arguments) {
    std::optional<LoadedInput> loaded = load_input(path, options.comparison, options.common, streams);
    if (!loaded) { return std::nullopt; }
    inputs.push_back(std::move(*loaded));
  }
  return inputs;
}

ExitCode compare(const CompareOptions& options, const Streams& streams) {
  const OutputChoice output(options.common.json, options.comparison.scenario.csv, streams);
  const std::optional<std::vector<LoadedInput>> inputs = load_all(options, streams);
  if (!inputs) { return ExitCode::interrupted; }
  std::vector<ComparedInput> sides;
  for (const LoadedInput& each : *inputs) { sides.push_back(each.input); }
  const Comparison result = compared(sides, options.comparison.request);
  const std::vector<std::string> differing = first_differences(*inputs, result);
  output.print(version_line() + comparison_text(result));
  for (const std::string& each : differing) { output.print("# differs: " + printable(each) + "\n"); }
  output.write_json([&] {
    JsonValue json = comparison_json(result);
    json["differences"] = differing;
    return text_of(json, 2) + "\n";
  });
  output.write_csv([&] { return csv_of(result); });
  return ExitCode::ok;
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "puts results side by side: ratios, who wins at which size, and where that changes",
          .arguments = "FILE...",
          .explanation =
              "Files are scenarios, which are simulated, results of --json, or sweeps. Of several files each is a\n"
              "alternative; of one its cases, or what a sweep varies first. --with asks what a change would bring: how "
              "much\n"
              "faster a step is with SHARP, say.\n",
          .example = "athanor compare scenarios/fabrics_1024.json --case \"fat tree\" --case rail-optimized",
          .least_arguments = 1,
          .most_arguments = SIZE_MAX,
          .prepare = &prepared<CompareOptions, &compare>};
}

}  // namespace athanor
