#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/command_line/command.hpp"
#include "tools/report/jobs_row.hpp"
#include "tools/report/result.hpp"
#include "tools/report/table.hpp"
#include "tools/report/traffic_row.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// What --set, --case, --sizes and --seed of the command line change.
ScenarioChanges changes_of(const Invocation& invocation);

/// Reads every scenario that the command line names, with --set, --seed, --sizes and --case applied.
/// Throws ScenarioError with the problems of all files.
std::vector<Scenario> read_scenarios(const Invocation& invocation);

/// How the command line has a case simulated. `timeline`: draws it; null: nothing does.
SimulationOptions simulation_options_of(const Case& scenario_case, const Invocation& invocation, Timeline* timeline);

/// Simulates a case at each of its sizes and gives each row to `see` as soon as it is known. Progress goes to err.
/// Requires a case that has one collective. Ends early, returning false, when the user interrupts. SimulationErrors
/// name the case and the size.
bool simulate_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                   Timeline* timeline, const Streams& streams, const std::function<void(const ResultRow&)>& see);

/// The same for a case of traffic; progress, interruption and errors likewise.
bool simulate_traffic_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                           const Streams& streams, const std::function<void(TrafficRow)>& see);

/// The same for a case of several jobs; progress, interruption and errors likewise.
bool simulate_jobs_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                        Timeline* timeline, const Streams& streams, const std::function<void(const JobsRow&)>& see);

/// What the cluster's makers warn of, and, where full buffers stop who fills them (packets under PFC or credits),
/// whether routes may wait for each other in a circle.
std::vector<std::string> warnings_of(const Case& scenario_case);

TableHeader table_header(const Scenario& scenario, const Case& scenario_case);

}  // namespace athanor
