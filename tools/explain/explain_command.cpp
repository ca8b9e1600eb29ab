#include <memory>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "models/execution/by_packets.hpp"
#include "models/execution/choice.hpp"
#include "models/experiments/jobs.hpp"
#include "models/experiments/shared_cluster.hpp"
#include "models/experiments/workload.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/printable.hpp"
#include "sim/timeline.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/explain/explain_case.hpp"
#include "tools/explain/explain_workload.hpp"
#include "tools/explain/job_explanation.hpp"
#include "tools/explain/what_if.hpp"
#include "tools/plot/drawing.hpp"

namespace athanor {

namespace {

/// The job that the command line names, as a case of its own.
Case the_job(const Case& scenario_case, const JobsSetup& setup, const ExplainOptions& options) {
  if (!options.job) {
    throw UsageError(
        fmt::format("explain is for one collective, and this is {} jobs; choose one, which is explained as "
                    "if it were alone, with --job 0 to {}, or use athanor run for all of them together",
                    setup.jobs, setup.jobs - 1));
  }
  for (std::uint32_t job = 0; job < setup.jobs; ++job) {
    if (*options.job != fmt::format("{}", job)) { continue; }
    Case alone = scenario_case;
    alone.platform = on_endpoints(scenario_case.platform, setup.endpoints(job));
    alone.experiment = std::make_shared<const CollectiveExperiment>(setup.alone(job));
    return alone;
  }
  throw UsageError(
      fmt::format("explain: --job: there is no job '{}'; they are counted from 0 to {}", *options.job, setup.jobs - 1));
}

Case the_case(const Scenario& scenario, const ExplainOptions& options) {
  if (scenario.cases.size() > 1) {
    throw UsageError(
        fmt::format("explain: {} has {} cases; choose one with --case NAME", scenario.path, scenario.cases.size()));
  }
  const Case& only = scenario.cases.front();
  if (only.as<WorkloadExperiment>() != nullptr || only.as<SharedClusterExperiment>() != nullptr) { return only; }
  if (const auto* jobs = only.as<JobsExperiment>()) { return the_job(only, jobs->setup(), options); }
  if (only.as<CollectiveExperiment>() == nullptr) {
    throw UsageError(fmt::format("explain is for collectives, steps and jobs, and this is {}; use athanor run",
                                 only.experiment->subject()));
  }
  if (options.job) { throw UsageError("explain: --job: this is one collective; leave it out"); }
  return only;
}

/// What json and text of an explanation are for, wherever they go.
template <class Explained>
void tell(const ExplainOptions& options, const Streams& streams, const Case& scenario_case,
          const Explained& explained) {
  if (!options.common.quiet) {
    for (const std::string& warning : warnings_of(scenario_case)) { tell(streams, warning); }
  }
  if (options.common.json) { write_json(options.common, streams, text_of(to_json(explained), 2)); }
  if (options.common.json != "") { streams.out(printable_lines(to_text(explained))); }
}

std::unique_ptr<Timeline> open_timeline(const ExplainOptions& options) {
  if (!options.timeline) { return nullptr; }
  check_writable(*options.timeline);
  return std::make_unique<Timeline>(*options.timeline);
}

ExitCode explain_step(const ExplainOptions& options, const Streams& streams, const Scenario& scenario,
                      const Case& scenario_case) {
  for (const auto& [given, option] :
       {std::pair(options.size.has_value(), "size"), std::pair(options.job.has_value(), "job"),
        std::pair(options.picture.has_value(), "picture")}) {
    if (!given) { continue; }
    throw UsageError(
        fmt::format("explain: --{}: this is training or a trace, and no collective; leave it out", option));
  }
  const std::unique_ptr<Timeline> timeline = open_timeline(options);
  const WorkloadExplanation explanation = explain_workload(options, streams, scenario, scenario_case, timeline.get());
  if (timeline) { timeline->close(); }
  tell(options, streams, scenario_case, explanation);
  return ExitCode::ok;
}

ExitCode explain_job(const ExplainOptions& options, const Streams& streams, const Scenario& scenario,
                     const Case& scenario_case) {
  for (const auto& [given, option] :
       {std::pair(options.size.has_value(), "size"), std::pair(options.timeline.has_value(), "timeline"),
        std::pair(options.picture.has_value(), "picture")}) {
    if (!given) { continue; }
    throw UsageError(
        fmt::format("explain: --{}: these are jobs, and no collective; leave it out, or use athanor run "
                    "--trace or plot jobs",
                    option));
  }
  if (!options.job) {
    throw UsageError("explain: this is a workload of jobs; choose one by its name or number with --job");
  }
  const auto* experiment = scenario_case.as<SharedClusterExperiment>();
  const RunOptions how = run_options_of(options.scenario);
  const JobExplanation explanation{heading_of(scenario, scenario_case),
                                   experiment->history(*options.job, scenario_case.platform, how)};
  tell(options, streams, scenario_case, explanation);
  return ExitCode::ok;
}

const CollectiveSetup& setup_of(const Case& scenario_case) { return scenario_case.as<CollectiveExperiment>()->setup(); }

/// The collective with faster links of the kinds that limit it.
std::vector<ExplainedChange> faster_machines(const ExplainOptions& options, const Scenario& scenario, Bytes size,
                                             const std::set<LinkKind>& limiting) {
  return try_changes(options, scenario, faster_links(limiting),
                     [&](const Scenario& changed, const WhatIf& what) -> std::optional<ExplainedChange> {
                       const Case other = the_case(changed, options);
                       const SimulationOptions how =
                           simulation_options(other.platform, run_options_of(options.scenario));
                       RunRequest request = setup_of(other).request(other.platform, size, how);
                       request.calls = 1;
                       return ExplainedChange{what.change, choose_fastest(request).result.time, ""};
                     });
}

ExitCode explain_collective(const ExplainOptions& options, const Streams& streams, const Scenario& scenario,
                            const Case& scenario_case) {
  const CollectiveSetup& setup = setup_of(scenario_case);
  const Bytes size = options.size.value_or(setup.sizes.back());
  if (uses_aggregators(setup.request(scenario_case.platform, size, {}))) {
    throw UsageError(
        "explain follows schedules, and packets that switches add up one by one have none; use athanor run");
  }
  const std::unique_ptr<Timeline> timeline = open_timeline(options);
  const std::string picture = options.picture ? picture_at(*options.picture) : "";
  RunOptions how = run_options_of(options.scenario);
  how.timeline = timeline.get();
  Explanation explanation = explain(scenario, scenario_case, size, how);
  if (timeline) { timeline->close(); }
  explanation.changes = faster_machines(options, scenario, size, explanation.limiting);
  if (options.job) {
    explanation.notes.push_back(
        fmt::format("job {} as if it were alone; what the others cost it, athanor run says", *options.job));
  }
  if (!picture.empty()) { draw(options.common.library, streams, "plot_explanation.py", to_json(explanation), picture); }
  tell(options, streams, scenario_case, explanation);
  return ExitCode::ok;
}

ExitCode explain_scenario(const ExplainOptions& options, const Streams& streams) {
  const std::vector<Scenario> scenarios = read_scenarios(options.common, options.scenario);
  const Case scenario_case = the_case(scenarios.front(), options);
  const bool step = scenario_case.as<WorkloadExperiment>() != nullptr;
  const bool jobs = scenario_case.as<SharedClusterExperiment>() != nullptr;
  const auto explain_it = step ? explain_step : jobs ? explain_job : explain_collective;
  return explain_it(options, streams, scenarios.front(), scenario_case);
}

}  // namespace

void visit(OptionFields& fields, ExplainOptions& options) {
  fields.size("size", "SIZE", options.size, "of the payload; without it the largest of the case");
  fields.texts("case", "NAME", options.scenario.cases, "this case; needed where there are several");
  fields.text("job", "N", options.job,
              "this one of several jobs, counted from 0, as if it were alone; of a workload by name or number");
  fields.texts("set", "/POINTER=VALUE", options.scenario.settings, "changes the scenario first; repeatable");
  fields.text("seed", "N", options.scenario.seed, "instead of the scenario's");
  fields.written_file("timeline", options.timeline, "what happened when, as Chrome trace events (opens in Perfetto)");
  fields.written_file("picture", options.picture,
                      "draws it: the candidates, the pipeline, links and channels (.svg, .png or .pdf)");
  fields.flag("no-classes", options.scenario.no_classes,
              "simulates every agent instead of one of each class (same result, slower)");
}

Command explain_command() {
  return {
      .name = "explain",
      .summary = "says why a collective of one size, a step of training, or a job takes its time",
      .arguments = "SCENARIO",
      .explanation =
          "Of a collective: all candidates with their times (beside NCCL's own predictions where NCCL runs it), why\n"
          "others cannot run, the channels, the pipeline from launch to drain, the limiting link and the least\n"
          "time that the hardware allows. Of a step of training, or a trace: its critical path, what it computes\n"
          "and what it waits for. Of both: what would shorten them, each change simulated. Of a job of a\n"
          "workload: why it waited, where it ran, what slowed it down and what was lost.\n",
      .example = "athanor explain scenarios/quickstart.json --case \"one DGX H100\" --size 64MiB",
      .least_arguments = 1,
      .most_arguments = 1,
      .prepare = &prepared<ExplainOptions, &explain_scenario>};
}

}  // namespace athanor
