#include "tools/compare/what_if.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/core.h>

#include "models/engines/engine.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "sim/words.hpp"
#include "tools/cli/read_results.hpp"

namespace athanor {

namespace {

/// Where NCCL runs the collectives, so that it has to be told of the engines. Throws UsageError where it runs those of
/// some cases alone: a change is one of all.
bool runs_nccl(const Scenario& scenario) {
  const auto runs = [](const Case& each) { return each.platform.profile->nccl.has_value(); };
  const bool all = std::all_of(scenario.cases.begin(), scenario.cases.end(), runs);
  if (!all && std::any_of(scenario.cases.begin(), scenario.cases.end(), runs)) {
    throw UsageError("--with: NCCL runs the collectives of some cases, and others have none: choose by --case");
  }
  return all;
}

std::vector<std::string> engines_of_networks() {
  std::vector<std::string> names;
  for (const EngineModel& engine : engine_catalog()) {
    if (is_in_switches(engine)) { names.push_back(engine.name); }
  }
  return names;
}

/// What is written into the scenario for an engine.
std::vector<std::string> settings_of_engine(const std::string& name, const Scenario& scenario) {
  const std::vector<std::string> names = engines_of_networks();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string near = nearest(name, names);
    throw UsageError(fmt::format("--with: '{}' is neither /POINTER=VALUE nor an engine in switches{}; there are {}",
                                 name, near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                                 joined(names, ", ")));
  }
  std::vector<std::string> settings{"/network/aggregation/engine=" + name};
  if (runs_nccl(scenario)) { settings.emplace_back(R"(/nccl/environment/NCCL_COLLNET_ENABLE="1")"); }
  return settings;
}

std::vector<std::string> settings_of(const std::string& change, const Scenario& scenario) {
  if (change.empty() || change.front() != '/') { return settings_of_engine(change, scenario); }
  std::vector<std::string> settings;
  std::istringstream parts(change);
  for (std::string part; std::getline(parts, part, ';');) { settings.push_back(part); }
  return settings;
}

void refuse_results(const std::string& path) {
  const bool scenario = !is_sweep(path) && result_kind(read_text_file(path)) != ResultKind::results;
  if (scenario) { return; }
  throw UsageError(fmt::format("--with changes scenarios, and {} has results", path));
}

}  // namespace

std::optional<std::vector<LoadedInput>> load_with_changes(const std::vector<std::string>& changes,
                                                          const ComparisonOptions& options, const CommonOptions& common,
                                                          const Streams& streams) {
  std::vector<LoadedInput> all;
  const bool several = common.arguments.size() > 1;
  const auto add = [&](const std::string& path, const ComparisonOptions& own, const std::string& label) {
    std::optional<LoadedInput> loaded = load_input(path, own, common, streams);
    if (!loaded) { return false; }
    if (own.scenario.settings != options.scenario.settings) { loaded->scenarios.clear(); }  // labels say what differs
    loaded->input.label = several ? fmt::format("{}, {}", path, label) : label;
    all.push_back(std::move(*loaded));
    return true;
  };
  for (const std::string& path : common.arguments) {
    refuse_results(path);
    if (!add(path, options, "as it is")) { return std::nullopt; }
    const std::size_t base = all.size() - 1;
    for (const std::string& change : changes) {
      ComparisonOptions own = options;
      for (std::string& setting : settings_of(change, *all[base].simulated)) {
        own.scenario.settings.push_back(std::move(setting));
      }
      if (!add(path, own, "with " + change)) { return std::nullopt; }
    }
  }
  return all;
}

}  // namespace athanor
