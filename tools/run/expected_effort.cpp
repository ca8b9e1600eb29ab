#include "tools/run/expected_effort.hpp"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "models/experiments/run.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/printable.hpp"
#include "tools/cli/machine_memory.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/output.hpp"

namespace athanor {

namespace {

/// From the most detail on, whatever the case asks for.
std::vector<NetworkSettings> all_levels(const NetworkSettings& asked) {
  NetworkSettings most = asked;
  most.level = NetworkLevel::packet;
  if (asked.level != NetworkLevel::packet) { most.skip_error = {0, 1}; }
  std::vector<NetworkSettings> levels = levels_from(most);
  for (NetworkSettings& each : levels) {
    if (each.level != NetworkLevel::packet) { each.skip_error = asked.skip_error; }
  }
  return levels;
}

struct LevelEffort {
  NetworkSettings network;
  bool asked = false;
  CaseEffort effort;
};

std::vector<LevelEffort> efforts_of(const Case& scenario_case, const RunOptions& options) {
  const NetworkSettings& asked = scenario_case.platform.network;
  std::vector<LevelEffort> efforts;
  for (const NetworkSettings& level : all_levels(asked)) {
    efforts.push_back(
        {level, level_text(level) == level_text(asked), effort_of(at_level(scenario_case, level, {}), options)});
  }
  return efforts;
}

std::string table_of(const Scenario& scenario, const Case& scenario_case, const std::vector<LevelEffort>& efforts) {
  std::string text = heading_of(scenario, scenario_case).text();
  text += fmt::format("#{:<23} {:>8} {:>8}\n", "level", "time", "memory");
  for (const LevelEffort& each : efforts) {
    text += fmt::format(" {:<23} {:>8} {:>8}{}\n", level_text(each.network), duration_text(each.effort.all_seconds()),
                        memory_text(each.effort.bytes), each.asked ? "  *" : "");
  }
  return text + "# * as the scenario has it; times are of one core of a machine like that of docs/performance.md\n";
}

JsonValue json_of(const Scenario& scenario, const Case& scenario_case, const std::vector<LevelEffort>& efforts) {
  JsonValue levels = JsonValue::list();
  for (const LevelEffort& each : efforts) {
    JsonValue work = JsonValue::object();
    for (std::size_t i = 0; i < kWorks; ++i) {
      const auto kind = static_cast<Work>(i);
      if (each.effort.work[kind] > 0) { work[name(kind)] = each.effort.work[kind]; }
    }
    levels.push_back({{"network", level_text(each.network)},
                      {"asked", each.asked},
                      {"seconds", each.effort.all_seconds()},
                      {"bytes", each.effort.bytes},
                      {"work", std::move(work)}});
  }
  return {{"scenario", scenario.path}, {"case", scenario_case.name}, {"levels", levels}};
}

}  // namespace

void tell_efforts(const std::vector<Scenario>& scenarios, const RunOptions& options, const CommonOptions& common,
                  const Streams& streams) {
  JsonValue estimates = JsonValue::list();
  std::string tables = version_line();
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      const std::vector<LevelEffort> efforts = efforts_of(each, options);
      estimates.push_back(json_of(scenario, each, efforts));
      tables += (estimates.elements().size() > 1 ? "\n" : "") + table_of(scenario, each, efforts);
    }
  }
  if (common.json) { write_json(common, streams, text_of(JsonValue{{"estimates", estimates}}, 2)); }
  if (!common.json || !common.json->empty()) { streams.out(printable_lines(tables)); }
}

ExpectedEnd expect(const std::vector<Scenario>& scenarios, const RunOptions& options, const CommonOptions& common,
                   const Streams& streams) {
  constexpr double kWorthSaying = 10;
  std::vector<double> runs;
  double sum = 0;
  double bytes = 0;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      CaseEffort effort;
      try {
        effort = effort_of(each, options);
      } catch (const SimulationError&) { return ExpectedEnd({}); }
      check_memory(scenario, each, effort, machine_memory(), options);
      const std::size_t seeds = std::max<std::size_t>(1, each.seeds.size());
      for (const double seconds : effort.seconds) {
        runs.insert(runs.end(), seeds, seconds / static_cast<double>(seeds));
      }
      sum += effort.all_seconds();
      bytes = std::max(bytes, effort.bytes);
    }
  }
  if (sum > kWorthSaying && !common.quiet) {
    tell(streams, fmt::format("expected to take about {} and {} (--estimate: at each level of the network)",
                              duration_text(sum), memory_text(bytes)));
  }
  return ExpectedEnd(std::move(runs));
}

}  // namespace athanor
