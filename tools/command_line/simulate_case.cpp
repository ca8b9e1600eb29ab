#include "tools/command_line/simulate_case.hpp"

#include <charconv>

#include <fmt/format.h>

#include "sim/format.hpp"
#include "sim/json/value_reader.hpp"
#include "tools/command_line/option_values.hpp"
#include "tools/command_line/progress.hpp"

namespace athanor {

namespace {

std::uint64_t seed_of(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, mistake] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (mistake != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw UsageError(fmt::format("--seed: '{}' is not a whole number from 0 to 18446744073709551615", text));
  }
  return seed;
}

ScenarioChanges changes_of(const Invocation& invocation) {
  using List = std::vector<std::string>;
  ScenarioChanges changes;
  if (invocation.has("set")) { changes.settings = invocation.options["set"].as<List>(); }
  if (invocation.has("case")) { changes.cases = invocation.options["case"].as<List>(); }
  if (invocation.has("sizes")) { changes.sizes = sizes_option(invocation, "sizes"); }
  if (invocation.has("seed")) { changes.seed = seed_of(invocation.text("seed")); }
  return changes;
}

std::string label(const Case& scenario_case, Bytes size) {
  return fmt::format("{}{}{} of {}", scenario_case.name, scenario_case.name.empty() ? "" : ", ",
                     name(scenario_case.kind), to_string(size));
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

ResultRow simulate_request(const Scenario& scenario, const Case& scenario_case, const RunRequest& request, Bytes size) {
  ResultRow row{.scenario = scenario.path,
                .case_name = scenario.has_cases ? scenario_case.name : "",
                .collective = request.collective,
                .type = scenario_case.type,
                .network = std::string(name(scenario_case.level)),
                .run = {},
                .measured_us = {}};
  try {
    row.run = run_collective(request);
  } catch (const SimulationError& error) {
    throw SimulationError(error.code(),
                          fmt::format("{}: {}: {}", scenario.path, label(scenario_case, size), error.what()));
  }
  if (scenario_case.verification) {
    const Measurement& measurement = scenario_case.verification->measurement;
    const Measurement::Row* measured =
        measurement.find(scenario_case.kind, size, scenario_case.ranks, row.run.algorithm, scenario_case.in_place);
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

std::string effort(const Case& scenario_case, const ResultRow& row) {
  const Simulated& simulated = row.run.simulated;
  return fmt::format("athanor: {}: {} of {} lanes, {} primitives, {} loops multiplied, {} events\n",
                     label(scenario_case, row.run.size), simulated.lanes, simulated.all_lanes, simulated.primitives,
                     simulated.skipped_loops, simulated.events);
}

}  // namespace

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
  const SimulationOptions options{.level = scenario_case.level,
                                  .packet = scenario_case.packet,
                                  .queue_pairs = scenario_case.queue_pairs,
                                  .classes = !invocation.has("no-classes"),
                                  .repeat_loops = !invocation.has("no-repeat"),
                                  .timeline = timeline,
                                  .timeline_offset = {}};
  const std::vector<Case> repetitions = scenario_case.repetitions();
  Progress progress(streams, !invocation.quiet);
  for (std::size_t i = 0; i < scenario_case.sizes.size(); ++i) {
    if (streams.interrupted()) { return false; }
    const Bytes size = scenario_case.sizes[i];
    progress.show(fmt::format("[{}/{}] {}", i + 1, scenario_case.sizes.size(), label(scenario_case, size)));
    simulate_size(scenario, repetitions, size, options, [&](const ResultRow& row) {
      progress.clear();
      see(row);
      if (invocation.verbose) { streams.err(effort(scenario_case, row)); }
    });
  }
  return true;
}

TableHeader table_header(const Scenario& scenario, const Case& scenario_case) {
  const Profile& profile = scenario_case.profile;
  TableHeader header{.title = scenario_case.name.empty() ? scenario.path : scenario_case.name,
                     .cluster = fmt::format("{}; {} ranks", scenario_case.cluster->description, scenario_case.ranks),
                     .profile = profile.name + (profile.description.empty() ? "" : ": ") + profile.description,
                     .network = std::string(name(scenario_case.level)),
                     .measurement = "",
                     .seed = scenario_case.seed,
                     .seeds = scenario_case.seeds};
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
