#include <span>

#include "models/execution/path_layout.hpp"
#include "models/execution/plan_network.hpp"
#include "models/training/parameter_server/parameter_server.hpp"
#include "models/training/parameter_server/server_process.hpp"
#include "sim/check.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

void check(const ParameterServerSetup& setup, std::size_t endpoints) {
  const auto exists = [&](std::uint32_t endpoint) {
    require(endpoint < endpoints, "endpoint {} of {}", endpoint, endpoints);
  };
  require(!setup.workers.empty() && !setup.shards.empty(), "no workers or no servers");
  for (const std::uint32_t worker : setup.workers) { exists(worker); }
  for (const std::vector<std::uint32_t>& shard : setup.shards) {
    require(!shard.empty() && shard.size() == setup.shards.front().size(), "shards of different numbers of copies");
    for (const std::uint32_t copy : shard) { exists(copy); }
  }
  require(setup.backup_workers < setup.workers.size(), "{} backups of {} workers", setup.backup_workers,
          setup.workers.size());
  require(setup.warm_up > 0 && setup.steps > 0, "{} steps after {}", setup.steps, setup.warm_up);
  for (const ParameterServerSetup::Straggler& each : setup.stragglers) {
    require(each.worker < setup.workers.size(), "worker {} of {}", each.worker, setup.workers.size());
  }
}

Plan plan_of(const ServerProcess& process, const Cluster& cluster, std::uint64_t seed, std::uint32_t queue_pairs) {
  Plan plan;
  plan.queue_pairs = striped(queue_pairs, cluster);
  PathLayout paths(plan, cluster);
  std::uint32_t number = 0;
  for (const ServerProcess::Way& way : process.connections()) {
    paths.add({cluster.endpoints[way.from], cluster.endpoints[way.to], join_hash(seed, number)},
              [](std::span<const LinkId>) { return ConnectionCost{}; });
    ++number;
  }
  return plan;
}

}  // namespace

std::string_view name(ParameterServerSetup::Update update) {
  using Update = ParameterServerSetup::Update;
  switch (update) {
    case Update::synchronous: return "synchronous";
    case Update::asynchronous: return "asynchronous";
    case Update::stale: return "stale";
  }
  return "";
}

Time ParameterServerResult::mean_iteration() const {
  if (iterations.empty()) { return Time::zero(); }
  Wide sum = 0;
  for (const Time each : iterations) { sum += each.count(); }
  return Time{static_cast<std::int64_t>(sum / static_cast<Wide>(iterations.size()))};
}

Time ParameterServerResult::p95_iteration() const {
  if (iterations.empty()) { return Time::zero(); }
  return iterations[(iterations.size() * 95 + 99) / 100 - 1];
}

ParameterServerResult simulate_parameter_server(const ParameterServerSetup& setup, const Cluster& cluster,
                                                std::uint64_t seed, const SimulationOptions& options) {
  check(setup, cluster.endpoints.size());
  Simulator simulator;
  ServerProcess process(simulator, setup, seed);
  const Plan plan = plan_of(process, cluster, seed, options.level == NetworkLevel::ideal ? 1 : options.queue_pairs);
  PlanNetwork network(simulator, plan, *cluster.fabric, options, seed, process);
  process.start(network.network());
  simulator.run();
  ParameterServerResult result = process.take_result();
  result.observed = network.observed(result.end);
  result.loads = network.loads(result.observed);
  result.packets = network.packets();
  result.events = simulator.events();
  return result;
}

}  // namespace athanor
