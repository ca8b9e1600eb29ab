#pragma once

#include <string>
#include <vector>

#include "models/experiments/run.hpp"
#include "tools/cli/command.hpp"

namespace athanor {

/// What --set, --case, --sizes and --seed of the command line change.
ScenarioChanges changes_of(const Invocation& invocation);

/// Reads every scenario that the command line names, with --set, --seed, --sizes and --case applied.
/// Throws ScenarioError with the problems of all files.
std::vector<Scenario> read_scenarios(const Invocation& invocation);
/// The same of one file that it does not name.
Scenario read_scenario_at(const std::string& path, const Invocation& invocation);

/// How the command line has experiments run: --no-classes, --no-repeat, --ports, --flows.
RunOptions run_options_of(const Invocation& invocation, Timeline* timeline = nullptr);

/// Runs a case and gives each row to `see` as soon as it is known. Progress, and with --verbose what each row took to
/// simulate, go to err. False: the user interrupts. Throws as run().
bool run_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation, Timeline* timeline,
              const Streams& streams, const std::function<void(Record)>& see);

}  // namespace athanor
