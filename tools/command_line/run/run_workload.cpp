#include "tools/command_line/run/run_workload.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "algorithms/catalog.hpp"
#include "models/execution/candidate.hpp"
#include "tools/command_line/progress.hpp"
#include "tools/command_line/run/simulate_case.hpp"
#include "tools/scenario/group_pricing.hpp"
#include "tools/scenario/profile_section.hpp"

namespace athanor {

namespace {

/// "case, " in front of what a message is about.
std::string prefix(const Case& scenario_case) { return scenario_case.name.empty() ? "" : scenario_case.name + ", "; }

/// What `simulate` returns; its SimulationErrors say where they happened.
template <class Simulate>
auto located(const Scenario& scenario, const Case& scenario_case, const char* what, Simulate simulate) {
  try {
    return simulate();
  } catch (const SimulationError& error) {
    throw SimulationError(error.code(),
                          fmt::format("{}: {}{}: {}", scenario.path, prefix(scenario_case), what, error.what()));
  }
}

/// Nodes that ranks are on, and all switches that are in none.
MachineCount machine_of(const Cluster& cluster, std::uint32_t ranks) {
  MachineCount count{.nodes = nodes_of(cluster, ranks), .switches = 0};
  for (VertexId vertex{0}; vertex.value < cluster.fabric->vertices(); ++vertex.value) {
    const VertexKind kind = cluster.fabric->vertex(vertex).kind;
    const bool of_network = kind == VertexKind::leaf || kind == VertexKind::spine || kind == VertexKind::core;
    if (of_network) { ++count.switches; }
  }
  return count;
}

void note_free_software(const WorkloadResult& result, const Case& scenario_case, std::vector<std::string>& notes) {
  const auto takes_time = [](const CallEstimate& each) { return each.time > Time::zero(); };
  const bool communicates = std::any_of(result.estimates.begin(), result.estimates.end(), takes_time);
  if (!communicates || scenario_case.profile.name != kIdealProfile || !scenario_case.cluster->identity) { return; }
  notes.emplace_back(
      "without a \"profile\" collectives cost no software: no launch, no protocol; `athanor list profiles` names some");
}

void note_extrapolation(const WorkloadResult& result, const Case& scenario_case, std::vector<std::string>& notes) {
  const auto outside = [](const CallEstimate& each) { return each.extrapolated; };
  if (std::none_of(result.estimates.begin(), result.estimates.end(), outside)) { return; }
  notes.push_back(fmt::format("extrapolated: some collectives are outside what the profile {} was fitted in",
                              scenario_case.profile.name));
}

bool uses_switches(const CallEstimate& estimate) {
  const auto all = catalog();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Algorithm& each) {
    return each.kind == estimate.kind && each.name == estimate.algorithm;
  });
  return found != all.end() && aggregates(*found);
}

void note_unused_engines(const WorkloadResult& result, const Case& scenario_case, std::vector<std::string>& notes) {
  if (!scenario_case.aggregation || std::any_of(result.estimates.begin(), result.estimates.end(), &uses_switches)) {
    return;
  }
  notes.emplace_back(
      "no collective is reduced by the switches of \"aggregation\": the usual algorithms are faster, or groups get no "
      "engines");
}

void tell_work(const WorkloadResult& result, const Invocation& invocation, const Streams& streams) {
  if (!invocation.verbose) { return; }
  streams.err(fmt::format("athanor: {} operations, {} events, {} kinds of calls\n", result.operations, result.events,
                          result.estimates.size()));
}

}  // namespace

TrainingRow simulate_training(const Scenario& scenario, const Case& scenario_case, const SimulationOptions& options,
                              const WorkloadOptions& workload) {
  const Training& training = *scenario_case.training;
  TrainingRow row{.scenario = scenario.path,
                  .case_name = scenario.has_cases ? scenario_case.name : "",
                  .network = std::string(name(scenario_case.level)),
                  .setup = training.setup,
                  .result = {},
                  .memory = training.memory.total(),
                  .measured = training.measured,
                  .notes = training.notes};
  CollectiveTimer timer(pricing_of(scenario_case, options));
  row.result =
      located(scenario, scenario_case, "training", [&] { return simulate_step(training.setup, timer, workload); });
  row.figures = training.costs;
  row.costs = costs_of(row.result, training.costs, machine_of(*scenario_case.cluster, training.setup.plan.ranks()));
  note_extrapolation(row.result.workload, scenario_case, row.notes);
  note_unused_engines(row.result.workload, scenario_case, row.notes);
  note_free_software(row.result.workload, scenario_case, row.notes);
  return row;
}

TraceRow simulate_trace(const Scenario& scenario, const Case& scenario_case, const SimulationOptions& options,
                        const WorkloadOptions& workload) {
  const TraceText& text = *scenario_case.trace;
  TraceRow row{.scenario = scenario.path,
               .case_name = scenario.has_cases ? scenario_case.name : "",
               .network = std::string(name(scenario_case.level)),
               .files = fmt::format("{}", fmt::join(text.files, " ")),
               .format = std::string(name(text.trace->format)),
               .ranks = text.trace->ranks,
               .result = {},
               .notes = text.trace->notes};
  row.result = located(scenario, scenario_case, "trace", [&] {
    CollectiveTimer timer(pricing_of(scenario_case, options));
    return run_workload(text.trace->workload, estimate_all(text.trace->workload, timer), workload);
  });
  note_extrapolation(row.result, scenario_case, row.notes);
  note_unused_engines(row.result, scenario_case, row.notes);
  note_free_software(row.result, scenario_case, row.notes);
  return row;
}

void run_workload_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                       Timeline* timeline, const Streams& streams, ResultSink& sink) {
  const SimulationOptions options = simulation_options_of(scenario_case, invocation, nullptr);
  const TableHeader header = table_header(scenario, scenario_case);
  const bool trains = scenario_case.training != nullptr;
  sink.print(trains ? training_header_lines(header, scenario_case.training->setup.model.transformer.has_value())
                    : trace_header_lines(header));
  for (const std::string& warning : warnings_of(scenario_case)) { sink.warn_of(warning); }
  Progress progress(streams, !invocation.quiet);
  progress.show(prefix(scenario_case) + (trains ? "training" : "trace"));
  if (trains) {
    TrainingRow row =
        simulate_training(scenario, scenario_case, options, {.critical_path = false, .timeline = timeline});
    progress.clear();
    tell_work(row.result.workload, invocation, streams);
    sink.print(training_row_line(row) + training_detail_lines(row));
    sink.add(std::move(row));
  } else {
    TraceRow row = simulate_trace(scenario, scenario_case, options, {.critical_path = false, .timeline = timeline});
    progress.clear();
    tell_work(row.result, invocation, streams);
    sink.print(trace_row_line(row) + trace_detail_lines(row));
    sink.add(std::move(row));
  }
}

}  // namespace athanor
