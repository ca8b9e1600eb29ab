#include "tools/cli/machine_readable.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "tools/cli/version.hpp"

namespace athanor {

namespace {

/// "key": [...], with an element a line, and the comma behind it.
std::string list_text(std::string_view key, const std::vector<JsonValue>& elements) {
  std::string text = fmt::format("\"{}\": [", key);
  for (const JsonValue& each : elements) { text += (&each == elements.data() ? "\n  " : ",\n  ") + text_of(each); }
  return text + "\n],\n";
}

std::string end_text(const Manifest& manifest, const std::vector<JsonValue>& results) {
  return "\"manifest\": " + text_of(manifest_record(manifest, results), 2) + "}\n";
}

/// Files and their hashes; null for one that is not any more what was read.
JsonValue inputs_json(const std::vector<Manifest::Input>& inputs) {
  JsonValue list = JsonValue::list();
  for (const Manifest::Input& input : inputs) {
    list.push_back({{"path", input.path}, {"hash", input.hash.empty() ? JsonValue() : JsonValue(input.hash)}});
  }
  return list;
}

/// The notes of a result that say what is outside of what its profile was fitted on, each a sentence.
std::vector<std::string> extrapolation_notes(const JsonValue& result) {
  std::vector<std::string> sentences;
  const JsonValue* notes = result.find("notes");
  if (notes == nullptr || !notes->is_list()) { return sentences; }
  for (const JsonValue& note : notes->elements()) {
    const std::string text = note.is_string() ? note.string() : "";
    if (text.starts_with("extrapolated: ")) { sentences.push_back(text.substr(text.find(' ') + 1)); }
  }
  return sentences;
}

/// Which results are outside of what their profiles were fitted on, a sentence for each case and reason.
std::vector<std::string> extrapolations_of(const std::vector<JsonValue>& results) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> outside;  // of each case: so many of so many
  const auto of_case = [](const std::string& label) { return label.empty() ? label : label + ": "; };
  std::vector<std::string> sentences;
  for (const JsonValue& result : results) {
    const std::string label = result.string_at("case");
    const JsonValue* extrapolated = result.find("extrapolated");
    ++outside[label].second;
    if (extrapolated != nullptr && *extrapolated == JsonValue(true)) { ++outside[label].first; }
    for (const std::string& note : extrapolation_notes(result)) {
      const std::string sentence = of_case(label) + note;
      if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) { sentences.push_back(sentence); }
    }
  }
  for (const auto& [label, count] : outside) {
    if (count.first == 0) { continue; }
    sentences.push_back(fmt::format("{}{} of {} results are outside of what the profile was fitted on", of_case(label),
                                    count.first, count.second));
  }
  return sentences;
}

}  // namespace

JsonValue manifest_record(const Manifest& manifest, const std::vector<JsonValue>& results) {
  JsonValue json = {{"version", version()},
                    {"git_revision", git_revision()},
                    {"compiler", compiler()},
                    {"build", build_facts()},
                    {"scenarios", inputs_json(manifest.scenarios)},
                    {"inputs", inputs_json(manifest.inputs)},
                    {"seeds", manifest.seeds},
                    {"command_line", manifest.command_line},
                    {"host", host_name()},
                    {"wall_time_s", manifest.wall_seconds},
                    {"interrupted", manifest.interrupted},
                    {"warnings", manifest.warnings},
                    {"extrapolations", extrapolations_of(results)}};
  if (!manifest.machine.empty()) { json["machine"] = manifest.machine; }
  return json;
}

std::string json_document(const std::vector<JsonValue>& results, const Manifest& manifest) {
  return "{" + list_text("results", results) + end_text(manifest, results);
}

std::string json_document(const std::vector<JsonValue>& results, std::string_view key, const JsonValue& beside,
                          const Manifest& manifest) {
  return fmt::format("{{{}\"{}\": {},\n{}", list_text("results", results), key, text_of(beside, 2),
                     end_text(manifest, results));
}

std::string json_document(const std::vector<JsonValue>& results,
                          const std::vector<std::pair<std::string, std::vector<JsonValue>>>& lists,
                          const Manifest& manifest) {
  std::string text = list_text("results", results);
  for (const auto& [key, elements] : lists) { text += list_text(key, elements); }
  return "{" + text + end_text(manifest, results);
}

std::vector<JsonValue> json_of(const std::vector<Record>& records) {
  std::vector<JsonValue> objects;
  for (const Record& each : records) { objects.push_back(each.json()); }
  return objects;
}

JsonValue problem_record(const Problem& problem) {
  return {{"code", problem.code},       {"message", problem.message},     {"file", problem.place.file},
          {"line", problem.place.line}, {"column", problem.place.column}, {"pointer", problem.place.pointer},
          {"hint", problem.hint}};
}

std::string problems_json(const std::vector<Problem>& problems) {
  require(!problems.empty(), "an error without a problem");
  JsonValue all = JsonValue::list();
  for (const Problem& problem : problems) { all.push_back(problem_record(problem)); }
  return text_of({{"error", all.elements().front()}, {"errors", all}}, 2) + "\n";
}

std::string version_line() { return fmt::format("# {}\n", program_version()); }

std::string interruption_line() { return "# interrupted: what follows was not simulated\n"; }

}  // namespace athanor
