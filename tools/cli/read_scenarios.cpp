#include "tools/cli/read_scenarios.hpp"

#include <fmt/core.h>

#include "sim/config/field_value.hpp"
#include "sim/parse.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/progress.hpp"

namespace athanor {

namespace {

std::uint64_t seed_of(const std::string& text) {
  if (const std::optional<std::uint64_t> seed = parse_count(text)) { return *seed; }
  throw UsageError(fmt::format("--seed: '{}' is not a whole number from 0 to 18446744073709551615", text));
}

}  // namespace

ScenarioChanges changes_of(const Invocation& invocation) {
  using List = std::vector<std::string>;
  ScenarioChanges changes;
  if (invocation.has("set")) { changes.settings = invocation.options["set"].as<List>(); }
  if (invocation.has("case")) { changes.cases = invocation.options["case"].as<List>(); }
  if (invocation.has("sizes")) { changes.sizes = sizes_option(invocation, "sizes"); }
  if (invocation.has("seed")) { changes.seed = seed_of(invocation.text("seed")); }
  return changes;
}

std::vector<Scenario> read_scenarios(const Invocation& invocation) {
  const ScenarioChanges changes = changes_of(invocation);
  Problems problems;
  std::vector<Scenario> scenarios;
  for (const std::string& path : invocation.arguments) {
    scenarios.push_back(read_scenario(path, invocation.library, changes, problems));
  }
  problems.throw_if_any();
  return scenarios;
}

Scenario read_scenario_at(const std::string& path, const Invocation& invocation) {
  return read_scenario(path, invocation.library, changes_of(invocation));
}

RunOptions run_options_of(const Invocation& invocation, Timeline* timeline) {
  return {.classes = !invocation.has("no-classes"),
          .repeat_loops = !invocation.has("no-repeat"),
          .ports = invocation.has("ports"),
          .flows = invocation.has("flows"),
          .timeline = timeline};
}

bool run_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation, Timeline* timeline,
              const Streams& streams, const std::function<void(Record)>& see) {
  Progress progress(streams, !invocation.quiet);
  const RunObserver observer{.begins = [&](const std::string& what) { progress.show(what); },
                             .ends =
                                 [&](Record record) {
                                   progress.clear();
                                   if (invocation.verbose) { streams.err(fmt::format("athanor: {}\n", record.effort)); }
                                   see(std::move(record));
                                 },
                             .interrupted = streams.interrupted};
  return run(scenario, scenario_case, run_options_of(invocation, timeline), observer);
}

}  // namespace athanor
