#include "models/experiments/experiment.hpp"

#include <fmt/core.h>

#include "sim/check.hpp"

namespace athanor {

SimulationOptions simulation_options(const Platform& platform, const RunOptions& options) {
  SimulationOptions simulation;
  static_cast<NetworkSettings&>(simulation) = platform.network;
  simulation.count_ports = options.ports;
  simulation.classes = options.classes;
  simulation.repeat_loops = options.repeat_loops;
  simulation.timeline = options.timeline;
  return simulation;
}

Record Experiment::summarised(std::vector<Record> repetitions) const {
  require(repetitions.size() == 1, "{} has no repetitions", subject());
  return std::move(repetitions.front());
}

std::string Experiment::participants() const { return fmt::format("{} ranks", ranks()); }

std::string Experiment::footer(const std::vector<Record>& /*records*/) const { return ""; }

std::vector<std::string> Experiment::warnings(const Platform& /*platform*/) const { return {}; }

}  // namespace athanor
