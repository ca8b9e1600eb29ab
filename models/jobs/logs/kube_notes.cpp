#include "models/jobs/logs/kube_notes.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include "sim/words.hpp"

namespace athanor {

SourceLocation KubeNotes::place(const YAML::Node& node) const {
  const YAML::Mark mark = node.Mark();
  return {path_, mark.line + 1, mark.column + 1, ""};
}

void KubeNotes::problem(const YAML::Node& node, std::string code, std::string message, std::string hint) {
  problem(place(node), std::move(code), std::move(message), std::move(hint));
}

void KubeNotes::problem(SourceLocation place, std::string code, std::string message, std::string hint) {
  problems_.push_back({std::move(code), std::move(message), std::move(place), std::move(hint)});
}

void KubeNotes::unique_keys(const YAML::Node& map) {
  if (!map || !map.IsMap()) { return; }
  std::set<std::string> seen;
  for (const auto& member : map) {
    const std::string& key = member.first.Scalar();
    if (seen.insert(key).second) { continue; }
    problem(member.first, "duplicate-key", fmt::format("\"{}\" is there twice", key), "leave one of them out");
  }
}

void KubeNotes::known_keys(const YAML::Node& map, std::string_view of, std::initializer_list<std::string_view> known) {
  if (!map || !map.IsMap()) { return; }
  unique_keys(map);
  for (const auto& member : map) {
    const std::string& key = member.first.Scalar();
    if (std::find(known.begin(), known.end(), key) != known.end()) { continue; }
    log_.has_no_effect(fmt::format("\"{}\" of {}", key, of), place(member.first));
  }
}

void KubeNotes::throw_if_any() const {
  if (!problems_.empty()) { throw ScenarioError(problems_); }
}

std::string kube_text(const YAML::Node& map, const char* key) {
  if (!map || !map.IsMap()) { return ""; }
  const YAML::Node value = map[key];
  return value && value.IsScalar() ? value.Scalar() : "";
}

std::uint32_t kube_count(const YAML::Node& map, const char* key, std::uint32_t fallback, KubeNotes& notes) {
  if (!map || !map.IsMap() || !map[key]) { return fallback; }
  const auto number = whole_number_of(kube_text(map, key));
  if (number && *number >= 0 && *number <= 1'000'000) { return static_cast<std::uint32_t>(*number); }
  notes.problem(map[key], "wrong-type", fmt::format("\"{}\" is no number from 0 to 1000000", key), "");
  return fallback;
}

}  // namespace athanor
