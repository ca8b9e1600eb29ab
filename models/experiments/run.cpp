#include "models/experiments/run.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/effort.hpp"
#include "models/experiments/network_columns.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/printable.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kBudget{"budget_s"};  ///< of `--budget`, where the network is simulated in less detail for it
constexpr Column kAskedNetwork{"asked_network"};          ///< beside it: what the scenario asks for
constexpr Column kSimulatedNetwork{"simulated_network"};  ///< beside it: what was simulated in its place

/// One case while it runs.
class Runner {
 public:
  Runner(const Scenario& scenario, const Case& scenario_case, const RunOptions& options, const RunObserver& observer)
      : scenario_(scenario), case_(scenario_case), options_(options), observer_(observer) {
    require(scenario_case.seeds.empty() || scenario_case.experiment->repetitions() != nullptr, "{} runs with one seed",
            scenario_case.experiment->subject());
    head_.put(kScenario, scenario.path);
    head_.put(kCase, scenario.has_cases ? scenario_case.name : "");
    if (scenario_case.budget) { put_budget(*scenario_case.budget); }
    for (const std::uint64_t seed : scenario_case.seeds) {
      platforms_.push_back(with_seed(scenario_case.platform, seed));
    }
    if (platforms_.empty()) { platforms_.push_back(scenario_case.platform); }
  }

  bool run() {
    const std::span<const Bytes> sizes = case_.experiment->sizes();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::string count = sizes.size() > 1 ? fmt::format("[{}/{}] ", i + 1, sizes.size()) : "";
      if (!run_size(sizes[i], count)) { return false; }
    }
    return true;
  }

 private:
  bool interrupted() const {
    return options_.stop.stop_requested() || (observer_.interrupted && observer_.interrupted());
  }

  void put_budget(const Budget& budget) {
    head_.put(kBudget, budget.seconds);
    head_.put(kAskedNetwork, level_text(budget.asked));
    head_.put(kSimulatedNetwork, level_text(case_.platform.network));
  }

  bool run_size(Bytes size, const std::string& count) {
    std::vector<std::vector<Record>> rows;  // by row, the record of each seed
    for (const Platform& platform : platforms_) {
      if (interrupted()) { return false; }
      if (observer_.begins) { observer_.begins(count + label(size)); }
      std::vector<Record> records = simulate(platform, size);
      rows.resize(records.size());
      for (std::size_t i = 0; i < records.size(); ++i) { rows[i].push_back(std::move(records[i])); }
    }
    for (std::vector<Record>& repetitions : rows) {
      observer_.ends(case_.seeds.empty() ? std::move(repetitions.front())
                                         : case_.experiment->repetitions()->row_of(std::move(repetitions)));
    }
    return true;
  }

  std::vector<Record> simulate(const Platform& platform, Bytes size) const {
    try {
      std::vector<Record> records = case_.experiment->run({platform, size, options_, head_});
      for (Record& each : records) { each.effort = fmt::format("{}: {}", label(size), each.effort); }
      return records;
    } catch (const SimulationError& error) {
      throw SimulationError(error.code(), fmt::format("{}: {}: {}", scenario_.path, label(size), error.what()));
    }
  }

  std::string label(Bytes size) const {
    return fmt::format("{}{}{}", case_.name, case_.name.empty() ? "" : ", ", case_.experiment->label(size));
  }

  const Scenario& scenario_;
  const Case& case_;
  const RunOptions& options_;
  const RunObserver& observer_;
  Record head_;
  std::vector<Platform> platforms_;  ///< with each seed
};

/// "flow, seed 1", "flow, seeds 1 to 9".
std::string network_text(const Case& scenario_case) {
  const std::vector<std::uint64_t>& seeds = scenario_case.seeds;
  const std::string_view level = name(scenario_case.platform.network.level);
  if (seeds.empty()) { return fmt::format("{}, seed {}", level, scenario_case.platform.seed); }
  const bool counted = seeds.back() - seeds.front() + 1 == seeds.size() && std::is_sorted(seeds.begin(), seeds.end());
  const std::string which =
      counted ? fmt::format("{} to {}", seeds.front(), seeds.back()) : fmt::format("{}", joined(seeds, ", "));
  return fmt::format("{}, {} seeds: {}; {}", level, seeds.size(), which,
                     scenario_case.experiment->repetitions()->shown);
}

std::string budget_text(const Budget& budget, const NetworkSettings& network) {
  return fmt::format("{}: {} in place of {}, which would take about {}; this takes about {}",
                     duration_text(budget.seconds), level_text(network), level_text(budget.asked),
                     duration_text(budget.asked_seconds), duration_text(budget.expected_seconds));
}

}  // namespace

bool run(const Scenario& scenario, const Case& scenario_case, const RunOptions& options, const RunObserver& observer) {
  try {
    return Runner(scenario, scenario_case, options, observer).run();
  } catch (const Interrupted&) { return false; }
}

std::vector<Record> run(const Scenario& scenario, const Case& scenario_case, const RunOptions& options) {
  std::vector<Record> records;
  const RunObserver observer{{}, [&](Record record) { records.push_back(std::move(record)); }, {}};
  run(scenario, scenario_case, options, observer);
  return records;
}

std::string Heading::at(std::string_view label) const {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& each) { return each.first == label; });
  return found == lines.end() ? "" : found->second;
}

std::string Heading::text() const {
  std::string text;
  for (const auto& [label, value] : lines) {
    if (!value.empty()) { text += fmt::format("# {:<12} {}\n", label, printable(value)); }
  }
  return text + "#\n";
}

Heading heading_of(const Scenario& scenario, const Case& scenario_case) {
  const Experiment& experiment = *scenario_case.experiment;
  const Platform& platform = scenario_case.platform;
  Heading heading;
  heading.lines.emplace_back("case", scenario_case.name.empty() ? scenario.path : scenario_case.name);
  heading.lines.emplace_back("cluster",
                             fmt::format("{}; {}", platform.cluster->description, experiment.participants()));
  std::vector<std::pair<std::string, std::string>> own = experiment.description(platform);
  const auto measured =
      std::stable_partition(own.begin(), own.end(), [](const auto& line) { return line.first != "measurement"; });
  heading.lines.insert(heading.lines.end(), own.begin(), measured);
  heading.lines.emplace_back("network", network_text(scenario_case));
  if (scenario_case.budget) {
    heading.lines.emplace_back("budget", budget_text(*scenario_case.budget, platform.network));
  }
  heading.lines.insert(heading.lines.end(), measured, own.end());
  return heading;
}

}  // namespace athanor
