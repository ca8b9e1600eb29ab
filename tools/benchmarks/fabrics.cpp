#include <benchmark/benchmark.h>

#include "tools/benchmarks/memory.hpp"
#include "tools/benchmarks/subjects.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

void build(benchmark::State& state, Cluster (*make)(std::uint32_t)) {
  const PeakMemory memory;
  std::uint32_t links = 0;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    const Cluster cluster = make(static_cast<std::uint32_t>(state.range(0)));
    links = cluster.fabric->links();
    benchmark::DoNotOptimize(links);
  }
  state.counters["links"] = links;
  state.counters["peak_MB"] = memory.megabytes();
}

void build_fat_tree(benchmark::State& state) {
  build(state, [](std::uint32_t hosts) { return fat_tree_of_radix(hosts, 64); });
}

void build_nodes(benchmark::State& state) {
  build(state, [](std::uint32_t gpus) { return rail_optimized_nodes(gpus / 8); });
}

void route_between_gpus(benchmark::State& state) {
  const Cluster cluster = rail_optimized_nodes(static_cast<std::uint32_t>(state.range(0) / 8));
  const std::size_t endpoints = cluster.endpoints.size();
  std::vector<LinkId> path;
  std::size_t from = 0;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    path.clear();
    const VertexId to = cluster.endpoints[(from * 7919 + 13) % endpoints];
    cluster.router->route({cluster.endpoints[from % endpoints], to, from}, path);
    benchmark::DoNotOptimize(path.data());
    ++from;
  }
}

}  // namespace

BENCHMARK(build_fat_tree)->Name("build/fat_tree_hosts")->Arg(1024)->Arg(65'536)->Unit(benchmark::kMillisecond);
BENCHMARK(build_nodes)->Name("build/rail_optimized_gpus")->Arg(1024)->Arg(65'536)->Unit(benchmark::kMillisecond);
BENCHMARK(route_between_gpus)->Name("route/gpu_to_gpu")->Arg(65'536);

}  // namespace athanor
