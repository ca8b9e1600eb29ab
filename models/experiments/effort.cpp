#include "models/experiments/effort.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr double kProgramBytes = 23e6;  // `athanor run` of a small scenario
constexpr std::size_t kSizesLookedAt = 5;

double bytes_of(const Fabric& fabric) {
  constexpr double kLink = 2 * sizeof(Link) + 20;  // with its ends and its place in the order, as while it is built
  constexpr double kVertex = 2 * sizeof(Vertex) + 8;
  return static_cast<double>(fabric.links()) * kLink + static_cast<double>(fabric.vertices()) * kVertex;
}

/// How far a size lies between two others, by logarithms: sizes are mostly a row of powers.
double part_of(Bytes low, Bytes size, Bytes high) {
  const auto log = [](Bytes bytes) { return std::log2(1.0 + static_cast<double>(bytes.count())); };
  return low == high ? 1 : std::clamp((log(size) - log(low)) / (log(high) - log(low)), 0.0, 1.0);
}

}  // namespace

CaseEffort effort_of(const Case& scenario_case, const RunOptions& options) {
  const std::span<const Bytes> sizes = scenario_case.experiment->sizes();
  const auto seeds = static_cast<double>(std::max<std::size_t>(1, scenario_case.seeds.size()));
  const std::size_t parts = std::min(sizes.size(), kSizesLookedAt);
  std::vector<WorkCount> works;  // by size
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t at = parts == 1 ? 0 : i * (sizes.size() - 1) / (parts - 1);
    const WorkCount own = scenario_case.experiment->work(scenario_case.platform, sizes[at], options);
    for (std::size_t low = works.size() - 1, k = works.size(); k < at; ++k) {
      works.push_back(between(works[low], own, part_of(sizes[low], sizes[k], sizes[at])));
    }
    works.push_back(own);
  }
  CaseEffort effort;
  for (WorkCount& each : works) {
    each *= seeds;
    effort.work += each;
    effort.seconds.push_back(seconds_of(each));
  }
  effort.bytes = effort.work.bytes + kProgramBytes + bytes_of(*scenario_case.platform.cluster->fabric);
  return effort;
}

std::string duration_text(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  constexpr double kDay = 86'400;
  if (seconds < 0.001) { return "1 ms"; }
  if (seconds < 1) { return fmt::format("{:.0f} ms", seconds * 1000); }
  if (seconds < 10) { return fmt::format("{:.1f} s", seconds); }
  if (seconds < 2 * kMinute) { return fmt::format("{:.0f} s", seconds); }
  if (seconds < 2 * kHour) { return fmt::format("{:.0f} min", seconds / kMinute); }
  if (seconds < 2 * kDay) { return fmt::format("{:.0f} h", seconds / kHour); }
  return fmt::format("{:.0f} days", seconds / kDay);
}

std::string memory_text(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes * 1e-6) : fmt::format("{:.1f} GB", bytes * 1e-9);
}

std::string level_text(const NetworkSettings& network) {
  const bool skips = network.level == NetworkLevel::packet && network.skip_error.numerator > 0;
  return skips ? fmt::format("{}, skip_error {:g}", name(network.level), to_double(network.skip_error))
               : std::string(name(network.level));
}

std::vector<NetworkSettings> levels_from(const NetworkSettings& asked) {
  std::vector<NetworkSettings> levels{asked};
  NetworkSettings next = asked;
  if (asked.level == NetworkLevel::packet && asked.skip_error.numerator == 0) {
    next.skip_error = {1, 100};
    levels.push_back(next);
    next.skip_error = asked.skip_error;
  }
  for (const NetworkLevel level : {NetworkLevel::flow, NetworkLevel::ideal}) {
    if (level >= asked.level) { continue; }
    next.level = level;
    levels.push_back(next);
  }
  return levels;
}

Case at_level(const Case& scenario_case, const NetworkSettings& network, const Budget& budget) {
  Case other = scenario_case;
  other.platform.network = network;
  other.budget = budget;
  return other;
}

namespace {

/// A case that a budget may take detail from.
struct BudgetedCase {
  Case* scenario_case = nullptr;
  std::vector<NetworkSettings> levels;  ///< that are left, the present one first
  double asked_seconds = 0;
  double seconds = 0;
};

int detail(const NetworkSettings& network) {
  const bool skips = network.level == NetworkLevel::packet && network.skip_error.numerator > 0;
  return 2 * static_cast<int>(network.level) - (skips ? 1 : 0);
}

}  // namespace

void keep_to_budget(std::vector<Scenario>& scenarios, double seconds, const RunOptions& options) {
  std::vector<BudgetedCase> candidates;
  double sum = 0;
  for (Scenario& scenario : scenarios) {
    for (Case& each : scenario.cases) {
      const double own = effort_of(each, options).all_seconds();
      candidates.push_back({&each, levels_from(each.platform.network), own, own});
      sum += own;
    }
  }
  while (sum > seconds) {
    int most = -1;
    for (const BudgetedCase& each : candidates) {
      if (each.levels.size() > 1) { most = std::max(most, detail(each.levels.front())); }
    }
    if (most < 0) {
      throw UsageError(
          fmt::format("--budget: not even the ideal network fits into {}: it is expected to take {}; allow "
                      "more, or take fewer cases or sizes (--case, --sizes)",
                      duration_text(seconds), duration_text(sum)));
    }
    sum = 0;
    for (BudgetedCase& each : candidates) {
      if (each.levels.size() > 1 && detail(each.levels.front()) == most) {
        const NetworkSettings asked = each.scenario_case->budget ? each.scenario_case->budget->asked : each.levels[0];
        each.levels.erase(each.levels.begin());
        *each.scenario_case = at_level(*each.scenario_case, each.levels.front(), {asked, seconds, 0, 0});
        each.seconds = effort_of(*each.scenario_case, options).all_seconds();
      }
      sum += each.seconds;
    }
  }
  for (BudgetedCase& each : candidates) {
    if (!each.scenario_case->budget) { continue; }
    each.scenario_case->budget->asked_seconds = each.asked_seconds;
    each.scenario_case->budget->expected_seconds = each.seconds;
  }
}

void check_memory(const Scenario& scenario, const Case& scenario_case, const CaseEffort& effort, double most_bytes,
                  const RunOptions& options) {
  constexpr double kDoubt = 1.5;  // what was estimated was up to that much more than what was needed
  if (effort.bytes <= most_bytes * kDoubt) { return; }
  std::string advice = "simulate fewer ranks or endpoints, or smaller sizes";
  const std::vector<NetworkSettings> levels = levels_from(scenario_case.platform.network);
  for (const NetworkSettings& level : levels) {
    const double bytes = effort_of(at_level(scenario_case, level, {}), options).bytes;
    if (bytes > most_bytes * kDoubt) { continue; }
    advice = fmt::format("at level {} it needs about {} (--set /network/level={}); or {}", name(level.level),
                         memory_text(bytes), name(level.level), advice);
    break;
  }
  throw SimulationError(
      "too-large", fmt::format("{}{}{}: needs about {} of memory, and there are {}: {}", scenario.path,
                               scenario_case.name.empty() ? "" : ", ", scenario_case.name, memory_text(effort.bytes),
                               memory_text(most_bytes), advice));
}

}  // namespace athanor
