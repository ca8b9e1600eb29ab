#include "models/network/fabric_network.hpp"
#include "models/training/parameter_server/parameter_server.hpp"
#include "models/training/parameter_server/server_process.hpp"
#include "sim/check.hpp"
#include "sim/random.hpp"
#include "topologies/cluster.hpp"

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

FabricConnections connections_of(const ServerProcess& process, const Cluster& cluster, std::uint64_t seed,
                                 std::uint32_t queue_pairs) {
  ConnectionBuilder connections(cluster, striped(queue_pairs, cluster));
  std::uint32_t number = 0;
  for (const ServerProcess::Route& route : process.routes()) {
    connections.add(cluster.endpoints[route.from], cluster.endpoints[route.to], join_hash(seed, number++));
  }
  return connections.take();
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
                                                std::uint64_t seed, const NetworkOptions& options) {
  check(setup, cluster.endpoints.size());
  Simulator simulator;
  ServerProcess process(simulator, setup, seed);
  const std::uint32_t queue_pairs = options.pairs_of_connections();
  const FabricConnections connections = connections_of(process, cluster, seed, queue_pairs);
  FabricNetwork network(simulator, connections, *cluster.fabric, options, seed, process);
  process.start(network.network());
  simulator.run();
  ParameterServerResult result = process.take_result();
  result.network = network.use(result.end);
  result.events = simulator.events();
  return result;
}

}  // namespace athanor
