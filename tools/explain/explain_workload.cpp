#include "tools/explain/explain_workload.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "models/experiments/scenario/training_gpus.hpp"
#include "models/experiments/training.hpp"
#include "models/experiments/workload_columns.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/cli/streams.hpp"
#include "tools/explain/what_if.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

WorkloadRun simulate(const Scenario& scenario, const Case& scenario_case, CollectiveTimer& timer,
                     const WorkloadOptions& workload) {
  const auto* experiment = scenario_case.as<WorkloadExperiment>();
  try {
    return experiment->simulate(scenario_case.platform, timer, workload);
  } catch (const SimulationError& error) {
    throw SimulationError(error.code(), fmt::format("{}: {}: {}", scenario.path, experiment->subject(), error.what()));
  }
}

std::optional<ExplainedInterval> interval_of(const Case& scenario_case, const WorkloadRun& done) {
  Record expected;
  scenario_case.as<WorkloadExperiment>()->put_interval(scenario_case.platform, done, expected);
  const bool training = scenario_case.as<TrainingExperiment>() != nullptr;
  return explained_interval(expected, kStepLow, kStepHigh, training ? &words_of_step_knowledge : &words_of_knowledge);
}

/// "nvlink, gpu to nvswitch".
std::string link_text(const Fabric& fabric, const CallEstimate& estimate) {
  const LinkShare busiest = estimate.busiest();
  if (busiest.share == 0) { return ""; }
  const LinkId link{busiest.link};
  return fmt::format("{}, {} to {}", name(fabric.link(link).kind), name(fabric.vertex(fabric.source(link)).kind),
                     name(fabric.vertex(fabric.target(link)).kind));
}

/// The kinds of links that calls on the path keep busy longest.
std::set<LinkKind> limiting_links(const Fabric& fabric, const WorkloadExplanation& explanation) {
  std::set<LinkKind> kinds;
  for (const CallsOnPath& calls : explanation.path.calls) {
    if (calls.estimate == WorkloadEstimates::kNone) { continue; }
    const CallEstimate& estimate = explanation.result.estimates[calls.estimate];
    if (estimate.busiest().share == 0) { continue; }
    kinds.insert(fabric.link(LinkId{estimate.busiest().link}).kind);
    for (const LinkShare& each : *estimate.shares) {  // a NIC is no faster than the PCIe link that it is on
      if (2 * each.share > estimate.busiest().share) { kinds.insert(fabric.link(LinkId{each.link}).kind); }
    }
  }
  return kinds;
}

WhatIf plan_change(std::string change, const std::vector<std::string>& settings) {
  WhatIf what{.change = std::move(change)};
  for (const std::string& each : settings) { what.settings.push_back("/training/parallel/" + each); }
  return what;
}

std::vector<WhatIf> schedules(const ParallelPlan& plan) {
  std::vector<WhatIf> changes;
  const auto add = [&](PipelineKind kind, std::uint32_t chunks) {
    if (kind == plan.schedule && (chunks == plan.virtual_stages || kind != PipelineKind::interleaved)) { return; }
    const std::string with = chunks > 1 ? fmt::format(" of {} chunks per stage", chunks) : "";
    changes.push_back(plan_change(fmt::format("pipeline schedule {}{}", name(kind), with),
                                  {fmt::format("schedule={}", name(kind)), fmt::format("virtual_stages={}", chunks)}));
  };
  if (plan.schedule == PipelineKind::gpipe) { add(PipelineKind::one_f_one_b, 1); }
  add(PipelineKind::interleaved, plan.schedule == PipelineKind::interleaved ? 2 * plan.virtual_stages : 2);
  add(PipelineKind::zb_h1, 1);
  add(PipelineKind::zb_v, 2);
  add(PipelineKind::dual_pipe, 1);
  return changes;
}

/// What the plan leaves out, of what applies to it.
std::vector<WhatIf> plan_changes(const ParallelPlan& plan) {
  std::vector<WhatIf> changes;
  const auto offer = [&](bool applies, const char* change, const char* setting) {
    if (applies) { changes.push_back(plan_change(change, {setting})); }
  };
  const bool processes = plan.data > 1 && !plan.single_process;
  offer(plan.has_one_process(), "a process for each GPU", "single_process=false");
  offer(processes && !plan.overlap_gradients, "gradients reduced beside backward", "overlap_gradients=true");
  offer(processes && !plan.overlap_parameters && plan.sharding != Sharding::none, "parameters gathered beside forward",
        "overlap_parameters=true");
  offer(plan.tensor > 1 && !plan.overlap_tensor, "tensor communication beside its products", "overlap_tensor=true");
  offer(plan.pipeline > 1 && !plan.overlap_pipeline, "activations sent beside computing", "overlap_pipeline=true");
  if (plan.recompute != Recompute::none) {
    changes.push_back(
        plan_change("no recomputing", {"recompute=none", "recompute_modules=null", "recompute_layers=null"}));
  }
  if (plan.pipeline > 1) {
    for (WhatIf& each : schedules(plan)) { changes.push_back(std::move(each)); }
  }
  return changes;
}

std::vector<WhatIf> changes_for(const Case& scenario_case, const WorkloadExplanation& explanation) {
  std::vector<WhatIf> changes{{.change = "devices that compute twice as fast", .computing = 0.5}};
  for (WhatIf& each : faster_links(limiting_links(*scenario_case.platform.cluster->fabric, explanation))) {
    changes.push_back(std::move(each));
  }
  if (!explanation.path.calls.empty()) {
    changes.push_back({.change = "communication that takes no time", .free_communication = true});
  }
  const auto* training = scenario_case.as<TrainingExperiment>();
  if (training == nullptr) { return changes; }
  for (WhatIf& each : plan_changes(training->training().setup.plan)) { changes.push_back(std::move(each)); }
  return changes;
}

/// What more memory a changed plan needs is part of what it costs.
std::string memory_note(const Case& now, const Case& changed) {
  const auto* before = now.as<TrainingExperiment>();
  const auto* after = changed.as<TrainingExperiment>();
  if (after == nullptr) { return ""; }
  const double room = fullest_gpu(after->training().setup).memory;
  const double needs = after->training().memory.total();
  if (room == 0 || needs <= std::max(room, before->training().memory.total())) { return ""; }
  return fmt::format("does not fit: {:.0f} GB of {:.0f}", needs * 1e-9, room * 1e-9);
}

/// Why faster links may make the same calls slower: NCCL chooses by a model of its own.
std::string choice_note(const WorkloadResult& now, const WorkloadResult& changed) {
  for (std::size_t i = 0; i < std::min(now.estimates.size(), changed.estimates.size()); ++i) {
    const CallEstimate& before = now.estimates[i];
    const CallEstimate& after = changed.estimates[i];
    if (before.algorithm == after.algorithm || after.time <= before.time) { continue; }
    return fmt::format("{} of {} is then done by {} in place of {}, which takes longer", name(after.kind),
                       to_string(after.size), after.algorithm, before.algorithm);
  }
  return "";
}

}  // namespace

WorkloadExplanation explain_workload(const ExplainOptions& options, const Streams& streams, const Scenario& scenario,
                                     const Case& scenario_case, Timeline* timeline) {
  Progress progress(streams, !options.common.quiet);
  progress.show(scenario_case.name);
  const auto pricing_of = [&](const Case& priced) {
    return priced.as<WorkloadExperiment>()->pricing(priced.platform, run_options_of(options.scenario));
  };
  CollectiveTimer timer(pricing_of(scenario_case));
  WorkloadRun done = simulate(scenario, scenario_case, timer, {.timeline = timeline});
  WorkloadExplanation explanation{.heading = heading_of(scenario, scenario_case),
                                  .time = done.time,
                                  .interval = interval_of(scenario_case, done),
                                  .stragglers = done.stragglers,
                                  .result = std::move(done.result),
                                  .path = {},
                                  .links = {},
                                  .changes = {},
                                  .notes = std::move(done.notes)};
  explanation.path = summary_of_path(explanation.result);
  for (const CallEstimate& estimate : explanation.result.estimates) {
    explanation.links.push_back(link_text(*scenario_case.platform.cluster->fabric, estimate));
  }
  const std::vector<WhatIf> changes = changes_for(scenario_case, explanation);
  progress.show(fmt::format("{}: {} changes that may help", scenario_case.name, changes.size()));
  explanation.changes = try_changes(
      options, scenario, changes, [&](const Scenario& changed, const WhatIf& what) -> std::optional<ExplainedChange> {
        const Case& other = changed.cases.front();
        const WorkloadOptions workload{
            .computing = what.computing, .free_communication = what.free_communication, .critical_path = false};
        std::optional<CollectiveTimer> of_links;  // another plan changes what is called, not what a call takes
        if (!what.links.empty()) { of_links.emplace(pricing_of(other)); }
        const WorkloadRun found = simulate(changed, other, of_links ? *of_links : timer, workload);
        return ExplainedChange{
            what.change, found.time,
            what.settings.empty() ? choice_note(explanation.result, found.result) : memory_note(scenario_case, other)};
      });
  progress.clear();
  return explanation;
}

}  // namespace athanor
