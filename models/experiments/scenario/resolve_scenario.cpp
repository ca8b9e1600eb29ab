#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/scenario/scenario.hpp"
#include "sim/config/fields.hpp"
#include "sim/config/json_value.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// What the command line has put above the file without being a setting of it.
void apply(const ScenarioChanges& changes, const Case& scenario_case, Json& json) {
  if (changes.seed) {
    json["seed"] = *changes.seed;
    if (json.contains("seeds") && json["seeds"].is_list()) { json.erase("seeds"); }
  }
  if (!changes.sizes) { return; }
  Json sizes = Json::list();
  for (const Bytes size : *changes.sizes) { sizes.push_back(written(size)); }
  const Experiment& experiment = *scenario_case.experiment;
  json[std::string(experiment.subject())][std::string(experiment.sizes_key())] = std::move(sizes);
}

Json whole(const Scenario& scenario, const ScenarioChanges& changes) {
  Json cases = Json::list();
  Json sweep;
  for (const Case& each : scenario.cases) {
    Json json = *each.resolved;
    apply(changes, each, json);
    if (!scenario.has_cases) { return json; }
    json["name"] = each.name;
    if (const Json* own = json.find("sweep")) { sweep = *own; }
    json.erase("sweep");
    cases.push_back(std::move(json));
  }
  Json file{{"name", scenario.name}};
  if (!sweep.is_null()) { file["sweep"] = std::move(sweep); }
  file["cases"] = std::move(cases);
  return file;
}

/// Takes the value out that a pointer ("/network/transport", in a list "/cases/0/...") leads to; false: there is none.
bool take_out(Json& json, std::string_view pointer) {
  if (!pointer.starts_with('/')) { return false; }
  pointer.remove_prefix(1);
  const std::size_t end = std::min(pointer.find('/'), pointer.size());
  const std::string key(pointer.substr(0, end));
  const std::string_view rest = pointer.substr(end);
  if (json.is_list()) {
    const std::size_t index = std::stoul(key);
    Json::List elements = json.elements();
    const bool taken_out = index < elements.size() && take_out(elements[index], rest);
    json = std::move(elements);
    return taken_out;
  }
  if (!json.contains(key)) { return false; }
  if (!rest.empty()) { return take_out(json[key], rest); }
  json.erase(key);
  return true;
}

/// Whether the user wrote what a pointer into the resolved scenario leads to.
bool is_own(const Scenario& scenario, std::string pointer) {
  std::size_t index = 0;
  if (scenario.has_cases) {
    constexpr std::string_view kCases = "/cases/";
    if (!pointer.starts_with(kCases)) { return true; }
    const std::size_t end = pointer.find('/', kCases.size());
    index = std::stoul(pointer.substr(kCases.size()));
    pointer = end == std::string::npos ? "" : pointer.substr(end);
  }
  return scenario.cases.at(index).text->at(pointer) != nullptr;
}

/// Takes out what is said by default and has nothing to act on: results would tell of it.
void take_out_keys_at_rest(const Scenario& scenario, Json& resolved) {
  for (std::size_t i = 0; i < scenario.cases.size(); ++i) {
    for (const std::string& key : scenario.cases[i].experiment->keys_at_rest()) {
      const std::string pointer = (scenario.has_cases ? fmt::format("/cases/{}", i) : "") + key;
      if (!is_own(scenario, pointer)) { take_out(resolved, pointer); }
    }
  }
}

}  // namespace

JsonValue resolved_scenario(const std::string& path, const Library& library, ScenarioChanges changes) {
  ScenarioReader reader(library);
  Problems problems;
  changes.resolve = true;
  const Scenario scenario = reader.read(path, changes, problems);
  problems.throw_if_any();
  Json resolved = whole(scenario, changes);
  take_out_keys_at_rest(scenario, resolved);
  ScenarioChanges none;
  none.links = changes.links;
  none.traces = scenario.traces;
  // Keys without an effect are mistakes of whoever writes them, and defaults are written here.
  for (bool changed = true; changed;) {
    Problems found;
    reader.read_text(text_of(resolved), path, none, found);
    changed = false;
    for (const Problem& problem : found.list()) {
      const bool taken_out = !is_own(scenario, problem.place.pointer) && take_out(resolved, problem.place.pointer);
      changed = changed || taken_out;
    }
    if (!changed) { found.throw_if_any(); }
  }
  return resolved;
}

}  // namespace athanor
