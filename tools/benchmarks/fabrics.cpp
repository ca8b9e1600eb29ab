#include <benchmark/benchmark.h>

#include "tools/benchmarks/memory.hpp"
#include "tools/benchmarks/subjects.hpp"

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

}  // namespace

BENCHMARK(build_fat_tree)->Name("build/fat_tree_hosts")->Arg(1024)->Arg(65'536)->Unit(benchmark::kMillisecond);
BENCHMARK(build_nodes)->Name("build/rail_optimized_gpus")->Arg(1024)->Arg(65'536)->Unit(benchmark::kMillisecond);

}  // namespace athanor
