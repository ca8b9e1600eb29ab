#include "models/experiments/experiment.hpp"

#include <algorithm>
#include <numeric>
#include <thread>

#include <fmt/core.h>

#include "models/execution/run_jobs.hpp"
#include "models/experiments/verification.hpp"
#include "topologies/cluster.hpp"
#include "topologies/routing/dependency_cycle.hpp"

namespace athanor {

bool Platform::shares_machine() const { return cluster->processors > 0 || cluster->shared_gpus > 0; }

Platform with_seed(const Platform& platform, std::uint64_t seed) {
  Platform other = platform;
  other.seed = seed;
  other.cluster = std::make_shared<const Cluster>(with_seed(*platform.cluster, seed));
  return other;
}

Platform on_endpoints(const Platform& platform, const std::vector<std::uint32_t>& endpoints) {
  Platform other = platform;
  other.cluster = std::make_shared<const Cluster>(cluster_of_job(*platform.cluster, endpoints));
  return other;
}

Platform on_first_endpoints(const Platform& platform, std::uint32_t ranks) {
  std::vector<std::uint32_t> endpoints(ranks);
  std::iota(endpoints.begin(), endpoints.end(), 0U);
  return on_endpoints(platform, endpoints);
}

std::string circle_warning(const Platform& platform) {
  constexpr std::uint32_t kFlows = 2;
  constexpr std::uint64_t kMostRoutes = 200'000;
  const bool stops = platform.network.level == NetworkLevel::packet &&
                     platform.network.packet.fabric.flow_control != FlowControl::none;
  if (!stops) { return ""; }
  return deadlock_warning(*platform.cluster->fabric, dependency_cycle(*platform.cluster, kFlows, kMostRoutes));
}

SimulationOptions simulation_options(const Platform& platform, const RunOptions& options) {
  SimulationOptions simulation;
  static_cast<NetworkSettings&>(simulation) = platform.network;
  simulation.threads = std::min(options.threads, std::max(1U, std::thread::hardware_concurrency()));
  simulation.count_ports = options.ports;
  simulation.classes = options.classes;
  simulation.repeat_loops = options.repeat_loops;
  simulation.timeline = options.timeline;
  simulation.stop = options.stop;
  return simulation;
}

std::string Experiment::participants() const { return fmt::format("{} ranks", ranks()); }

std::string Experiment::footer(const std::vector<Record>& /*records*/) const { return ""; }

std::vector<std::string> Experiment::warnings(const Platform& /*platform*/) const { return {}; }

std::optional<Reference> Experiment::reference() const { return std::nullopt; }

}  // namespace athanor
