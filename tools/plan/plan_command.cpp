#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/core.h>

#include "models/experiments/scenario/plan_scenario.hpp"
#include "models/experiments/scenario/training_gpus.hpp"
#include "models/experiments/table.hpp"
#include "models/experiments/training.hpp"
#include "models/training/search/plan_search.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/manifest.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/cli/streams.hpp"
#include "tools/plan/plan_options.hpp"
#include "tools/plan/plan_report.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// With one case, that trains.
Scenario scenario_of(const PlanOptions& options) {
  ScenarioChanges changes = changes_of(options.scenario);
  changes.open_plan = true;
  Problems problems;
  Scenario scenario = read_scenario(options.common.arguments.front(), options.common.library, changes, problems);
  problems.throw_if_any();
  check_outputs(options.common);
  if (scenario.cases.size() > 1) {
    throw UsageError(
        fmt::format("plan: {} has {} cases; choose one with --case NAME", scenario.path, scenario.cases.size()));
  }
  if (scenario.cases.front().as<TrainingExperiment>() == nullptr) {
    throw UsageError(fmt::format(
        "plan: {} has no \"training\"; say there what is trained: model, global_batch, sequence and precision",
        scenario.path));
  }
  return scenario;
}

/// What would help the smallest plan where none fits.
std::vector<std::string> advice_of(const PlanReport& report) {
  std::vector<std::string> lines;
  const std::optional<Transformer>& model = report.setup.model.transformer;
  if (!report.result.smallest || !model) { return lines; }
  const UnfitPlan& smallest = *report.result.smallest;
  for (const MemoryAdvice& each : memory_advice(*model, smallest.plan, smallest.layers, report.room)) {
    lines.push_back(fmt::format("{} ({:.1f} GB)", each.change, each.use.total() * 1e-9));
  }
  if (lines.size() > 3) { lines.resize(3); }
  const double times = std::ceil(smallest.memory.total() / report.room);
  lines.push_back(fmt::format("some {:.0f} times as many GPUs, or such with more memory", times));
  return lines;
}

/// Where GPUs differ, what the one with least memory has: any of them may hold the fullest stage.
double room_of(const PlanOptions& options, const TrainingSetup& setup) {
  const GpuRates& gpu = smallest_gpu(setup);
  if (gpu.memory == 0) { return 0; }
  const double room = gpu.memory - options.reserved();
  if (room > 0) { return room; }
  throw UsageError(fmt::format("plan: --reserve leaves nothing of the {:.0f} GB of {}", gpu.memory * 1e-9, gpu.name));
}

/// Nothing to search: of degrees that were asked for, say which do not go.
[[noreturn]] void refuse_empty(const PlanSearchResult& result) {
  std::string why = result.misfit;
  for (const auto& [refused, count] : result.refused) { why = refused; }
  throw UsageError(fmt::format("plan: no plan can be made of these degrees: {}; ask for others", why));
}

PlanReport report_of(const PlanOptions& options, const Streams& streams, const Scenario& scenario) {
  const Case& scenario_case = scenario.cases.front();
  const auto& experiment = *scenario_case.as<TrainingExperiment>();
  const Training& training = experiment.training();
  const Cluster& cluster = *scenario_case.platform.cluster;
  PlanReport report{.scenario = scenario.path,
                    .case_name = scenario.has_cases ? scenario_case.name : "",
                    .setup = training.setup,
                    .room = room_of(options, training.setup),
                    .reserve = options.reserved(),
                    .expected_error = training.expected_error,
                    .interrupted = false,
                    .own_fault = training.plan_fault ? training.plan_fault->message : "",
                    .result = {},
                    .advice = {}};
  Progress progress(streams, !options.common.quiet);
  const auto endpoints = static_cast<std::uint32_t>(cluster.endpoints.size());
  const std::uint32_t domain = cluster.identity ? cluster.endpoints_per_node : 0;
  const PlanSpace space = space_of(options, training.setup, endpoints, domain);
  const bool of_asked_size =
      std::find(space.gpus.begin(), space.gpus.end(), training.setup.plan.ranks()) != space.gpus.end();
  const PlanSearchSettings settings{.space = space,
                                    .room = report.room,
                                    .top = options.top,
                                    .own_plan = !training.plan_fault && of_asked_size,
                                    .exhaustive = false,
                                    .most = options.most,
                                    .go_on = [&](const std::string& doing) {
                                      progress.show(doing);
                                      report.interrupted = report.interrupted || streams.interrupted();
                                      return !report.interrupted;
                                    }};
  CollectiveTimer timer(experiment.pricing(scenario_case.platform, run_options_of(options.scenario)));
  report.result = search_plans(training.setup, settings, timer);
  report.advice = advice_of(report);
  return report;
}

/// What the compute profile was not fitted on, which holds for every plan.
std::vector<std::string> extrapolations_of(const Case& scenario_case) {
  std::vector<std::string> notes = scenario_case.as<TrainingExperiment>()->training().notes;
  std::erase_if(notes, [](const std::string& note) { return !note.starts_with("extrapolated: "); });
  return notes;
}

Manifest manifest_of(const PlanOptions& options, const Scenario& scenario, const PlanReport& report, double wall) {
  std::vector<std::string> warnings = warnings_of(scenario.cases.front());
  for (std::string& note : extrapolations_of(scenario.cases.front())) { warnings.push_back(std::move(note)); }
  return {.command_line = options.common.command_line,
          .scenarios = {{scenario.path, scenario.hash}},
          .inputs = InputsRead(options.common.library.files()).fresh(),
          .seeds = {scenario.cases.front().platform.seed},
          .warnings = std::move(warnings),
          .wall_seconds = wall,
          .interrupted = report.interrupted};
}

ExitCode plan(const PlanOptions& options, const Streams& streams) {
  const auto begin = std::chrono::steady_clock::now();
  const OutputChoice choice(options.common.json, options.scenario.csv, streams);
  check_writable(options.output);
  const Scenario scenario = scenario_of(options);
  const Case& scenario_case = scenario.cases.front();
  if (!options.common.quiet) {
    for (const std::string& warning : warnings_of(scenario_case)) { warn(streams, warning); }
  }
  const PlanReport report = report_of(options, streams, scenario);
  const PlanSearchResult& result = report.result;
  if (result.best.empty() && !result.smallest) { refuse_empty(result); }
  choice.print(version_line() + plan_lines(report, heading_of(scenario, scenario_case)));
  for (const std::string& note : extrapolations_of(scenario_case)) { choice.print("# " + note + "\n"); }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const Manifest manifest = manifest_of(options, scenario, report, wall.count());
  choice.write_json([&] { return json_document(plans_json(report), "search", search_json(report), manifest); });
  choice.write_csv([&] {
    const std::vector<JsonValue> plans = plans_json(report);
    return csv_document(plans.empty() ? std::vector<std::string>() : keys_of({plans.front()}), plans);
  });
  if (result.best.empty()) {
    complain(streams, "no plan fits into the memory of a GPU");
    return ExitCode::simulation_failed;
  }
  if (options.output) {
    write_text_file(*options.output,
                    scenario_with_plan(scenario_case, result.best.front().plan, result.best.front().layers));
  }
  return report.interrupted ? ExitCode::interrupted : ExitCode::ok;
}

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .summary = "searches how to spread a training over GPUs, and says why the best plans are",
      .arguments = "SCENARIO",
      .explanation =
          "Of a scenario with \"training\": all degrees of parallelism, micro-batches, schedules, sharding and\n"
          "recomputation that fit into memory, the fastest first; what the scenario's plan says of overlap and the\n"
          "like holds. Plans that a lower bound of their step rules out are not simulated, so that the list is what\n"
          "simulating all of them would give. A,B,... restricts what is searched.\n",
      .example = "athanor plan scenarios/training/megatron_sc21.json --case \"7.5B, 128 GPUs\" --tensor 1,2,4",
      .least_arguments = 1,
      .most_arguments = 1,
      .prepare = &prepared<PlanOptions, &plan>};
}

}  // namespace athanor
