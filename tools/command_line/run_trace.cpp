#include "tools/command_line/run_trace.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/workload/run_workload.hpp"
#include "tools/command_line/progress.hpp"
#include "tools/command_line/simulate_case.hpp"
#include "tools/scenario/group_pricing.hpp"

namespace athanor {

TraceRow simulate_trace(const Scenario& scenario, const Case& scenario_case, const SimulationOptions& options,
                        Timeline* timeline) {
  const TraceText& text = *scenario_case.trace;
  TraceRow row{.scenario = scenario.path,
               .case_name = scenario.has_cases ? scenario_case.name : "",
               .network = std::string(name(scenario_case.level)),
               .files = fmt::format("{}", fmt::join(text.files, " ")),
               .format = std::string(name(text.trace->format)),
               .ranks = text.trace->ranks,
               .result = {},
               .prices = {},
               .notes = text.trace->notes};
  try {
    CallPricer pricer(pricing_of(scenario_case, options));
    const WorkloadPrices prices = price_all(text.trace->workload, pricer);
    row.result = run_workload(text.trace->workload, prices, {.timeline = timeline});
    for (const CallPrice* price : prices.prices) { row.prices.push_back(*price); }
  } catch (const SimulationError& error) {
    throw SimulationError(error.code(), fmt::format("{}: {}{}trace: {}", scenario.path, scenario_case.name,
                                                    scenario_case.name.empty() ? "" : ", ", error.what()));
  }
  if (std::any_of(row.prices.begin(), row.prices.end(), [](const CallPrice& each) { return each.extrapolated; })) {
    row.notes.push_back(fmt::format("extrapolated: some collectives are outside what the profile {} was fitted in",
                                    scenario_case.profile.name));
  }
  return row;
}

void run_trace_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                    Timeline* timeline, const Streams& streams, ResultSink& sink) {
  const SimulationOptions options = simulation_options_of(scenario_case, invocation, nullptr);
  sink.print(trace_header_lines(table_header(scenario, scenario_case)));
  for (const std::string& warning : warnings_of(scenario_case)) { sink.warn_of(warning); }
  Progress progress(streams, !invocation.quiet);
  progress.show(fmt::format("{}{}trace", scenario_case.name, scenario_case.name.empty() ? "" : ", "));
  TraceRow row = simulate_trace(scenario, scenario_case, options, timeline);
  progress.clear();
  if (invocation.verbose) {
    streams.err(fmt::format("athanor: {} operations, {} events, {} kinds of calls\n", row.result.operations,
                            row.result.events, row.prices.size()));
  }
  sink.print(trace_row_line(row) + trace_detail_lines(row));
  sink.add(std::move(row));
}

}  // namespace athanor
