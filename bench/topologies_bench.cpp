// Building fabrics and computing routes. peak_MB is the most memory that the process had held when a benchmark
// ended: run one at a time (--benchmark_filter) to read it.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "topologies/generators.hpp"

namespace {

using namespace athanor;
using namespace athanor::literals;

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024e-6;
}

ClosSpec radix_64() {
  ClosSpec spec;
  spec.radix = 64;
  spec.host_cable = spec.up_cable = spec.core_cable = {50_GBps, 50_GBps, 50_ns, 230_ns};
  return spec;
}

/// A node like the DGX H100: 8 GPUs on NVSwitches, 8 NICs, a PCIe switch for each pair of them, two sockets.
NodeSpec eight_gpus() {
  NodeSpec spec;
  spec.name = "8 GPUs";
  spec.gpus = spec.nics = 8;
  spec.scale_up = NvSwitchSpec{{450_GBps, 370_GBps, 25_ns}};
  spec.sockets = 2;
  spec.socket_link = LinkSpec{128_GBps, 22_GBps, 100_ns};
  spec.pcie_link = {63_GBps, 52_GBps, 150_ns};
  for (std::uint32_t i = 0; i < 8; ++i) { spec.pcie.push_back({i / 4, true, {i}, {i}}); }
  spec.nic_rate = 50_GBps;
  spec.nic_forwarding = 300_ns;
  return spec;
}

void report(benchmark::State& state, const Cluster& cluster) {
  state.counters["endpoints"] = static_cast<double>(cluster.endpoints.size());
  state.counters["links"] = cluster.fabric->links();
  state.counters["peak_MB"] = peak_megabytes();
}

void build_hosts(benchmark::State& state) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  for (auto _ : state) { benchmark::DoNotOptimize(fat_tree(hosts(count), radix_64()).fabric.get()); }
  report(state, fat_tree(hosts(count), radix_64()));
}
BENCHMARK(build_hosts)->Arg(1024)->Arg(16'384)->Arg(65'536)->Unit(benchmark::kMillisecond);

void build_gpus(benchmark::State& state) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  for (auto _ : state) { benchmark::DoNotOptimize(fat_tree(nodes(count / 8, eight_gpus()), radix_64()).fabric.get()); }
  report(state, fat_tree(nodes(count / 8, eight_gpus()), radix_64()));
}
BENCHMARK(build_gpus)->Arg(1024)->Arg(16'384)->Arg(65'536)->Unit(benchmark::kMillisecond);

void route_between_gpus(benchmark::State& state) {
  const Cluster cluster = fat_tree(nodes(8192, eight_gpus()), radix_64());
  const auto n = static_cast<std::uint32_t>(cluster.endpoints.size());
  std::vector<LinkId> path;
  std::uint32_t from = 0;
  for (auto _ : state) {
    path.clear();
    cluster.router->route({cluster.endpoints[from % n], cluster.endpoints[(from * 7919 + 13) % n], from, {}}, path);
    benchmark::DoNotOptimize(path.data());
    ++from;
  }
  report(state, cluster);
}
BENCHMARK(route_between_gpus);

}  // namespace

BENCHMARK_MAIN();
