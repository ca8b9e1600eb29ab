#include "tools/command_line/run_training.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tools/command_line/progress.hpp"
#include "tools/command_line/simulate_case.hpp"
#include "tools/scenario/group_pricing.hpp"

namespace athanor {

TrainingRow simulate_training(const Scenario& scenario, const Case& scenario_case, const SimulationOptions& options,
                              Timeline* timeline) {
  const Training& training = *scenario_case.training;
  TrainingRow row{.scenario = scenario.path,
                  .case_name = scenario.has_cases ? scenario_case.name : "",
                  .network = std::string(name(scenario_case.level)),
                  .setup = training.setup,
                  .result = {},
                  .memory = training.memory.total(),
                  .measured = training.measured,
                  .notes = training.notes};
  CallPricer pricer(pricing_of(scenario_case, options));
  try {
    row.result = simulate_step(training.setup, pricer, {.timeline = timeline});
  } catch (const SimulationError& error) {
    throw SimulationError(error.code(), fmt::format("{}: {}{}training: {}", scenario.path, scenario_case.name,
                                                    scenario_case.name.empty() ? "" : ", ", error.what()));
  }
  const auto& prices = row.result.prices;
  if (std::any_of(prices.begin(), prices.end(), [](const CallPrice& each) { return each.extrapolated; })) {
    row.notes.push_back(fmt::format("extrapolated: some collectives are outside what the profile {} was fitted in",
                                    scenario_case.profile.name));
  }
  return row;
}

void run_training_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                       Timeline* timeline, const Streams& streams, ResultSink& sink) {
  const SimulationOptions options = simulation_options_of(scenario_case, invocation, nullptr);
  sink.print(training_header_lines(table_header(scenario, scenario_case)));
  for (const std::string& warning : warnings_of(scenario_case)) { sink.warn_of(warning); }
  Progress progress(streams, !invocation.quiet);
  progress.show(fmt::format("{}{}training", scenario_case.name, scenario_case.name.empty() ? "" : ", "));
  TrainingRow row = simulate_training(scenario, scenario_case, options, timeline);
  progress.clear();
  if (invocation.verbose) {
    streams.err(fmt::format("athanor: {} operations, {} events, {} kinds of calls\n", row.result.workload.operations,
                            row.result.workload.events, row.result.prices.size()));
  }
  sink.print(training_row_line(row) + training_detail_lines(row));
  sink.add(std::move(row));
}

}  // namespace athanor
