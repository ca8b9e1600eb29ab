#include "tools/command_line/run/simulate_case.hpp"

#include <fmt/core.h>

#include "sim/format.hpp"
#include "sim/json/value_reader.hpp"
#include "sim/parse.hpp"
#include "tools/command_line/option_values.hpp"
#include "tools/command_line/progress.hpp"
#include "tools/report/trace_row.hpp"
#include "tools/report/training_row.hpp"
#include "tools/scenario/nccl_section.hpp"
#include "topologies/routing/dependency_cycle.hpp"

namespace athanor {

namespace {

std::uint64_t seed_of(const std::string& text) {
  if (const std::optional<std::uint64_t> seed = parse_count(text)) { return *seed; }
  throw UsageError(fmt::format("--seed: '{}' is not a whole number from 0 to 18446744073709551615", text));
}

std::string label(const Case& scenario_case, Bytes size) {
  const std::string_view what = scenario_case.traffic ? name(scenario_case.traffic->pattern) : name(scenario_case.kind);
  const std::string payload = size > Bytes::zero() ? fmt::format(" of {}", to_string(size)) : "";
  return fmt::format("{}{}{}{}", scenario_case.name, scenario_case.name.empty() ? "" : ", ", what, payload);
}

/// A SimulationError that says where it happened.
SimulationError located(const SimulationError& error, const Scenario& scenario, const Case& scenario_case, Bytes size) {
  return {error.code(), fmt::format("{}: {}: {}", scenario.path, label(scenario_case, size), error.what())};
}

/// Where every algorithm is reported, those that fit, one by one; else all together, of which the fastest is reported.
std::vector<RunRequest> requests_of(const Case& scenario_case, Bytes size, const SimulationOptions& options) {
  const RunRequest together = scenario_case.request(size, options);
  if (!scenario_case.each_algorithm) { return {together}; }
  std::vector<RunRequest> requests;
  for (const Algorithm* algorithm : scenario_case.algorithms) {
    if (why_not(together, *algorithm)) { continue; }
    requests.push_back(together);
    requests.back().algorithms = {algorithm};
  }
  return requests;
}

void add_overlap(const Case& scenario_case, ResultRow& row) {
  const Overlap found = overlap(row.run.time, *scenario_case.compute, scenario_case.offload);
  row.overlap = found;
  row.run.notes.push_back(fmt::format("{} B beside a computation of {}: {} in all, {:.0f} % of it hidden",
                                      row.run.size.count(), to_string(*scenario_case.compute), to_string(found.total),
                                      found.share * 100));
}

ResultRow simulate_request(const Scenario& scenario, const Case& scenario_case, const RunRequest& request, Bytes size) {
  ResultRow row{.scenario = scenario.path,
                .case_name = scenario.has_cases ? scenario_case.name : "",
                .collective = request.collective,
                .type = scenario_case.type,
                .reduction = scenario_case.reduction,
                .network = std::string(name(scenario_case.level)),
                .run = {},
                .measured_us = {}};
  try {
    row.run = run_collective(request);
    if (scenario_case.compute) { add_overlap(scenario_case, row); }
  } catch (const SimulationError& error) { throw located(error, scenario, scenario_case, size); }
  if (scenario_case.verification) {
    const Measurement& measurement = scenario_case.verification->measurement;
    const Measurement::Row* measured = measurement.find(measured_like(scenario_case, row.run.algorithm), size);
    if (measured != nullptr) { row.measured_us = measured->time_us; }
  }
  return row;
}

/// A row for each request of a case at one size; of several seeds the median, with the spread. A case that repeats has
/// the same requests for every seed.
void simulate_size(const Scenario& scenario, const std::vector<Case>& repetitions, Bytes size,
                   const SimulationOptions& options, const std::function<void(const ResultRow&)>& see) {
  std::vector<std::vector<RunRequest>> requests;
  for (const Case& repetition : repetitions) { requests.push_back(requests_of(repetition, size, options)); }
  for (std::size_t i = 0; i < requests.front().size(); ++i) {
    std::vector<ResultRow> rows;
    for (std::size_t r = 0; r < repetitions.size(); ++r) {
      rows.push_back(simulate_request(scenario, repetitions[r], requests[r][i], size));
    }
    see(repetitions.front().seeds.empty() ? rows.front() : summarised(std::move(rows)));
  }
}

TrafficRow simulate_traffic_once(const Scenario& scenario, const Case& scenario_case, Bytes size,
                                 const SimulationOptions& options) {
  TrafficRow row{.scenario = scenario.path,
                 .case_name = scenario.has_cases ? scenario_case.name : "",
                 .pattern = std::string(name(scenario_case.traffic->pattern)),
                 .network = std::string(name(scenario_case.level)),
                 .endpoints = scenario_case.ranks,
                 .size = size,
                 .seed = scenario_case.seed,
                 .cluster = scenario_case.cluster,
                 .matrix = make_traffic(*scenario_case.traffic, size, scenario_case.seed),
                 .simulated = {},
                 .summary = {}};
  try {
    row.simulated = simulate_traffic(row.matrix, *row.cluster, row.seed, options);
  } catch (const SimulationError& error) { throw located(error, scenario, scenario_case, size); }
  row.summary = summary_of(row.simulated);
  return row;
}

JobsRow simulate_jobs(const Scenario& scenario, const Case& scenario_case, Bytes size,
                      const SimulationOptions& options) {
  JobsRow row{.scenario = scenario.path,
              .case_name = scenario.has_cases ? scenario_case.name : "",
              .collective = scenario_case.collective(size),
              .collectives = {},
              .type = scenario_case.type,
              .network = std::string(name(scenario_case.level)),
              .size = size,
              .run = {}};
  try {
    const JobsRequest request = scenario_case.jobs_request(size, options);
    for (const JobRequest& job : request.jobs) { row.collectives.push_back(job.collective); }
    row.run = run_jobs(request);
  } catch (const SimulationError& error) { throw located(error, scenario, scenario_case, size); }
  return row;
}

std::string effort(const Case& scenario_case, Bytes size, const Simulated& simulated) {
  return fmt::format("athanor: {}: {} of {} lanes, {} primitives, {} loops multiplied, {} events\n",
                     label(scenario_case, size), simulated.lanes, simulated.all_lanes, simulated.primitives,
                     simulated.skipped_loops, simulated.events);
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

SimulationOptions simulation_options_of(const Case& scenario_case, const Invocation& invocation, Timeline* timeline) {
  return {.level = scenario_case.level,
          .packet = scenario_case.packet,
          .queue_pairs = scenario_case.queue_pairs,
          .classes = !invocation.has("no-classes"),
          .repeat_loops = !invocation.has("no-repeat"),
          .count_ports = invocation.options.count("ports") > 0,
          .timeline = timeline,
          .timeline_offset = {}};
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

bool simulate_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                   Timeline* timeline, const Streams& streams, const std::function<void(const ResultRow&)>& see) {
  const SimulationOptions options = simulation_options_of(scenario_case, invocation, timeline);
  const std::vector<Case> repetitions = scenario_case.repetitions();
  Progress progress(streams, !invocation.quiet);
  for (std::size_t i = 0; i < scenario_case.sizes.size(); ++i) {
    if (streams.interrupted()) { return false; }
    const Bytes size = scenario_case.sizes[i];
    progress.show(fmt::format("[{}/{}] {}", i + 1, scenario_case.sizes.size(), label(scenario_case, size)));
    simulate_size(scenario, repetitions, size, options, [&](const ResultRow& row) {
      progress.clear();
      see(row);
      if (invocation.verbose) { streams.err(effort(scenario_case, size, row.run.simulated)); }
    });
  }
  return true;
}

bool simulate_jobs_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                        Timeline* timeline, const Streams& streams, const std::function<void(const JobsRow&)>& see) {
  const SimulationOptions options = simulation_options_of(scenario_case, invocation, timeline);
  Progress progress(streams, !invocation.quiet);
  for (std::size_t i = 0; i < scenario_case.sizes.size(); ++i) {
    if (streams.interrupted()) { return false; }
    const Bytes size = scenario_case.sizes[i];
    progress.show(fmt::format("[{}/{}] {} jobs, {}", i + 1, scenario_case.sizes.size(), scenario_case.jobs->jobs,
                              label(scenario_case, size)));
    const JobsRow row = simulate_jobs(scenario, scenario_case, size, options);
    progress.clear();
    see(row);
    if (invocation.verbose) { streams.err(effort(scenario_case, size, row.run.simulated)); }
  }
  return true;
}

bool simulate_traffic_case(const Scenario& scenario, const Case& scenario_case, const Invocation& invocation,
                           const Streams& streams, const std::function<void(TrafficRow)>& see) {
  const SimulationOptions options = simulation_options_of(scenario_case, invocation, nullptr);
  Progress progress(streams, !invocation.quiet);
  for (std::size_t i = 0; i < scenario_case.sizes.size(); ++i) {
    const Bytes size = scenario_case.sizes[i];
    std::vector<TrafficRow> rows;
    for (const Case& repetition : scenario_case.repetitions()) {
      if (streams.interrupted()) { return false; }
      progress.show(fmt::format("[{}/{}] {}", i + 1, scenario_case.sizes.size(), label(scenario_case, size)));
      rows.push_back(simulate_traffic_once(scenario, repetition, size, options));
    }
    progress.clear();
    if (invocation.verbose) {
      streams.err(fmt::format("athanor: {}: {} messages, {} events\n", label(scenario_case, size),
                              rows.front().summary.messages, rows.front().simulated.events));
    }
    see(scenario_case.seeds.empty() ? std::move(rows.front()) : summarised(std::move(rows)));
  }
  return true;
}

std::vector<std::string> warnings_of(const Case& scenario_case) {
  std::vector<std::string> warnings = scenario_case.cluster->warnings;
  for (std::string& warning : nccl_warnings(scenario_case)) { warnings.push_back(std::move(warning)); }
  const bool stops =
      scenario_case.level == NetworkLevel::packet && scenario_case.packet.fabric.flow_control != FlowControl::none;
  if (!stops) { return warnings; }
  const Cluster& cluster = *scenario_case.cluster;
  const std::string deadlock = deadlock_warning(*cluster.fabric, dependency_cycle(cluster, 2, 200'000));
  if (!deadlock.empty()) { warnings.push_back(deadlock); }
  return warnings;
}

TableHeader table_header(const Scenario& scenario, const Case& scenario_case) {
  const Profile& profile = scenario_case.profile;
  TableHeader header{
      .title = scenario_case.name.empty() ? scenario.path : scenario_case.name,
      .cluster = fmt::format("{}; {}{} {}", scenario_case.cluster->description,
                             scenario_case.jobs ? fmt::format("{} jobs of ", scenario_case.jobs->jobs) : "",
                             scenario_case.ranks,
                             scenario_case.traffic            ? "endpoints"
                             : scenario_case.parameter_server ? "workers"
                                                              : "ranks"),
      .profile = profile.name + (profile.description.empty() ? "" : ": ") + profile.description,
      .network = std::string(name(scenario_case.level)),
      .measurement = "",
      .seed = scenario_case.seed,
      .seeds = scenario_case.seeds};
  if (scenario_case.traffic) {
    header.profile = "";
    header.traffic = name(scenario_case.traffic->pattern);
  }
  if (scenario_case.parameter_server) {
    header.profile = "";
    header.training = describe(scenario_case.parameter_server->setup);
  }
  if (scenario_case.training) {
    const TrainingSetup& setup = scenario_case.training->setup;
    header.training = describe(setup);
    std::string computing = setup.compute.name;
    for (const GpuKind& other : setup.others) {
      if (other.compute.name != setup.compute.name) {
        computing += fmt::format(", of {} {}", other.gpu.name, other.compute.name);
      }
    }
    header.profile = fmt::format("collectives {}; computing {}", header.profile, computing);
  }
  if (scenario_case.trace) { header.trace = describe(*scenario_case.trace); }
  if (scenario_case.verification) {
    const Measurement& measurement = scenario_case.verification->measurement;
    if (!profile.machine.empty() && !measurement.machine.empty() && profile.machine != measurement.machine) {
      header.profile += fmt::format(" (of ANOTHER MACHINE than was measured: {})", profile.machine);
    }
    header.measurement = fmt::format("{}: {}, algorithm {}; {}", measurement.id, measurement.hardware,
                                     measurement.algorithm, measurement.source);
  }
  return header;
}

}  // namespace athanor
