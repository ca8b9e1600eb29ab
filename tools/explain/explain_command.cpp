#include <memory>
#include <optional>
#include <set>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "models/execution/by_packets.hpp"
#include "models/execution/choice.hpp"
#include "models/experiments/jobs.hpp"
#include "models/experiments/workload.hpp"
#include "sim/config/text.hpp"
#include "sim/error.hpp"
#include "sim/printable.hpp"
#include "sim/timeline.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/cli/read_scenarios.hpp"
#include "tools/explain/explain_case.hpp"
#include "tools/explain/explain_workload.hpp"
#include "tools/explain/what_if.hpp"
#include "tools/plot/drawing.hpp"

namespace athanor {

namespace {

boost::program_options::options_description explain_options() {
  namespace options = boost::program_options;
  options::options_description described("options");
  auto add = described.add_options();
  add("size", options::value<std::string>()->value_name("SIZE"), "of the payload; without it the largest of the case");
  add("case", options::value<std::vector<std::string>>()->value_name("NAME"),
      "this case; needed where there are several");
  add("job", options::value<std::string>()->value_name("N"),
      "this one of several jobs, counted from 0, as if it were alone");
  add("set", options::value<std::vector<std::string>>()->value_name("/POINTER=VALUE"),
      "changes the scenario first; repeatable");
  add("seed", options::value<std::string>()->value_name("N"), "instead of the scenario's");
  add("timeline", options::value<std::string>()->value_name("FILE"),
      "what happened when, as Chrome trace events (opens in Perfetto)");
  add("picture", options::value<std::string>()->value_name("FILE"),
      "draws it: the candidates, the pipeline, links and channels (.svg, .png or .pdf)");
  add("no-classes", "simulates every agent instead of one of each class (same result, slower)");
  return described;
}

/// The job that the command line names, as a case of its own.
Case the_job(const Case& scenario_case, const JobsSetup& setup, const Invocation& invocation) {
  if (!invocation.has("job")) {
    throw UsageError(
        fmt::format("explain is for one collective, and this is {} jobs; choose one, which is explained as "
                    "if it were alone, with --job 0 to {}, or use athanor run for all of them together",
                    setup.jobs, setup.jobs - 1));
  }
  const std::string text = invocation.text("job");
  for (std::uint32_t job = 0; job < setup.jobs; ++job) {
    if (text != fmt::format("{}", job)) { continue; }
    Case alone = scenario_case;
    alone.platform = on_endpoints(scenario_case.platform, setup.endpoints(job));
    alone.experiment = std::make_shared<const CollectiveExperiment>(setup.alone(job));
    return alone;
  }
  throw UsageError(
      fmt::format("explain: --job: there is no job '{}'; they are counted from 0 to {}", text, setup.jobs - 1));
}

Case the_case(const Scenario& scenario, const Invocation& invocation) {
  if (scenario.cases.size() > 1) {
    throw UsageError(
        fmt::format("explain: {} has {} cases; choose one with --case NAME", scenario.path, scenario.cases.size()));
  }
  const Case& only = scenario.cases.front();
  if (only.as<WorkloadExperiment>() != nullptr) { return only; }
  if (const auto* jobs = only.as<JobsExperiment>()) { return the_job(only, jobs->setup(), invocation); }
  if (only.as<CollectiveExperiment>() == nullptr) {
    throw UsageError(fmt::format("explain is for collectives and steps, and this is {}; use athanor run",
                                 only.experiment->subject()));
  }
  if (invocation.has("job")) { throw UsageError("explain: --job: this is one collective; leave it out"); }
  return only;
}

/// What json and text of an explanation are for, wherever they go.
template <class Explained>
void tell(const Invocation& invocation, const Streams& streams, const Case& scenario_case, const Explained& explained) {
  if (!invocation.quiet) {
    for (const std::string& warning : warnings_of(scenario_case)) { tell(streams, warning); }
  }
  if (invocation.has("json")) { write_json(invocation, streams, text_of(to_json(explained), 2)); }
  if (!invocation.has("json") || !invocation.text("json").empty()) { streams.out(printable_lines(to_text(explained))); }
}

std::unique_ptr<Timeline> open_timeline(const Invocation& invocation) {
  if (!invocation.has("timeline")) { return nullptr; }
  check_writable(invocation.text("timeline"));
  return std::make_unique<Timeline>(invocation.text("timeline"));
}

ExitCode explain_step(const Invocation& invocation, const Streams& streams, const Scenario& scenario,
                      const Case& scenario_case) {
  for (const char* option : {"size", "job", "picture"}) {
    if (!invocation.has(option)) { continue; }
    throw UsageError(
        fmt::format("explain: --{}: this is training or a trace, and no collective; leave it out", option));
  }
  const std::unique_ptr<Timeline> timeline = open_timeline(invocation);
  const WorkloadExplanation explanation =
      explain_workload(invocation, streams, scenario, scenario_case, timeline.get());
  if (timeline) { timeline->close(); }
  tell(invocation, streams, scenario_case, explanation);
  return ExitCode::ok;
}

const CollectiveSetup& setup_of(const Case& scenario_case) { return scenario_case.as<CollectiveExperiment>()->setup(); }

/// The collective with faster links of the kinds that limit it.
std::vector<ExplainedChange> faster_machines(const Invocation& invocation, const Scenario& scenario, Bytes size,
                                             const std::set<LinkKind>& limiting) {
  return try_changes(invocation, scenario, faster_links(limiting),
                     [&](const Scenario& changed, const WhatIf& what) -> std::optional<ExplainedChange> {
                       const Case other = the_case(changed, invocation);
                       const SimulationOptions options = simulation_options(other.platform, run_options_of(invocation));
                       const RunRequest request = setup_of(other).request(other.platform, size, options);
                       return ExplainedChange{what.change, choose_fastest(request).result.time, ""};
                     });
}

ExitCode explain_collective(const Invocation& invocation, const Streams& streams, const Scenario& scenario,
                            const Case& scenario_case) {
  const CollectiveSetup& setup = setup_of(scenario_case);
  const Bytes size = invocation.has("size") ? size_option("explain", invocation, "size") : setup.sizes.back();
  if (uses_aggregators(setup.request(scenario_case.platform, size, {}))) {
    throw UsageError(
        "explain follows schedules, and packets that switches add up one by one have none; use athanor run");
  }
  const std::unique_ptr<Timeline> timeline = open_timeline(invocation);
  const std::string picture = invocation.has("picture") ? picture_at(invocation.text("picture")) : "";
  Explanation explanation = explain(scenario, scenario_case, size, run_options_of(invocation, timeline.get()));
  if (timeline) { timeline->close(); }
  explanation.changes = faster_machines(invocation, scenario, size, explanation.limiting);
  if (invocation.has("job")) {
    explanation.notes.push_back(
        fmt::format("job {} as if it were alone; what the others cost it, athanor run says", invocation.text("job")));
  }
  if (!picture.empty()) { draw(invocation, streams, "plot_explanation.py", to_json(explanation), picture); }
  tell(invocation, streams, scenario_case, explanation);
  return ExitCode::ok;
}

ExitCode explain_scenario(const Invocation& invocation, const Streams& streams) {
  const std::vector<Scenario> scenarios = read_scenarios(invocation);
  const Case scenario_case = the_case(scenarios.front(), invocation);
  const bool step = scenario_case.as<WorkloadExperiment>() != nullptr;
  return (step ? explain_step : explain_collective)(invocation, streams, scenarios.front(), scenario_case);
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .summary = "says why a collective of one size, or a step of training, takes its time",
      .arguments = "SCENARIO",
      .explanation =
          "Of a collective: all candidates with their times (beside NCCL's own predictions where NCCL runs it), why\n"
          "others cannot run, the channels, the pipeline from launch to drain, the limiting link and the least\n"
          "time that the hardware allows. Of a step of training, or a trace: its critical path, what it computes\n"
          "and what it waits for. Of both: what would shorten them, each change simulated.\n",
      .example = "athanor explain scenarios/quickstart.json --case \"one DGX H100\" --size 64MiB",
      .least_arguments = 1,
      .most_arguments = 1,
      .options = &explain_options,
      .execute = &explain_scenario};
}

}  // namespace athanor
