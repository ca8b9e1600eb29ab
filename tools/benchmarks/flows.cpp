#include <random>

#include <benchmark/benchmark.h>

#include "models/network/flow_network.hpp"
#include "tools/benchmarks/memory.hpp"
#include "tools/benchmarks/subjects.hpp"

namespace athanor {

namespace {

class Arrivals final : public MoveListener {
 public:
  void injected(std::uint32_t) override {}
  void grain_arrived(std::uint32_t) override {}
  void delivered(std::uint32_t) override { ++count; }

  std::int64_t count = 0;
};

NetworkPlan links_of(const Fabric& fabric) {
  NetworkPlan plan;
  for (std::uint32_t link = 0; link < fabric.links(); ++link) {
    plan.links.push_back({fabric.link(LinkId{link}).usable});
  }
  return plan;
}

/// Adds a connection along the cluster's own route.
void connect(const Cluster& cluster, VertexId from, VertexId to, NetworkPlan& plan) {
  std::vector<LinkId> path;
  cluster.router->route({from, to, plan.connections.size(), std::nullopt}, path);
  NetworkPlan::Connection connection;
  connection.cap = Bandwidth::max();
  connection.first_use = static_cast<std::uint32_t>(plan.uses.size());
  connection.uses = static_cast<std::uint32_t>(path.size());
  for (const LinkId link : path) {
    connection.latency += cluster.fabric->link(link).latency;
    plan.uses.push_back({link.value, 1});
  }
  plan.connections.push_back(connection);
}

NetworkPlan random_connections(const Cluster& cluster, std::int64_t count, std::mt19937_64& random) {
  NetworkPlan plan = links_of(*cluster.fabric);
  const std::uint64_t hosts = cluster.endpoints.size();
  for (std::int64_t flow = 0; flow < count; ++flow) {
    const std::uint64_t from = random() % hosts;
    const std::uint64_t to = (from + 1 + random() % (hosts - 1)) % hosts;
    connect(cluster, cluster.endpoints[from], cluster.endpoints[to], plan);
  }
  return plan;
}

/// Flows of random sizes up to 64 MB between random hosts of 1,024 start together and run to the end.
void random_flows(benchmark::State& state) {
  const PeakMemory memory;
  const Cluster cluster = square_fat_tree(1024);
  std::uint64_t events = 0;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    std::mt19937_64 random{1};
    const NetworkPlan plan = random_connections(cluster, state.range(0), random);
    Simulator simulator;
    Arrivals arrivals;
    FlowNetwork network(simulator, plan, arrivals);
    for (std::uint32_t flow = 0; flow < plan.connections.size(); ++flow) {
      network.move(flow, Bytes{static_cast<std::int64_t>(1 + random() % 64'000'000)});
    }
    simulator.run();
    if (arrivals.count != state.range(0)) { state.SkipWithError("not every flow has arrived"); }
    events = simulator.events();
  }
  state.counters["events"] = static_cast<double>(events);
  state.counters["peak_MB"] = memory.megabytes();
}

}  // namespace

BENCHMARK(random_flows)->Name("flows/random_on_1024_hosts")->Arg(1000)->Arg(10'000)->Unit(benchmark::kSecond);

}  // namespace athanor
