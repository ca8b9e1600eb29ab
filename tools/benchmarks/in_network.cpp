#include <memory>

#include <benchmark/benchmark.h>

#include "algorithms/catalog.hpp"
#include "models/engines/engine.hpp"
#include "models/engines/trees/switch_graph.hpp"
#include "models/execution/run.hpp"
#include "models/software/profile.hpp"
#include "tools/benchmarks/memory.hpp"
#include "tools/benchmarks/subjects.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"

namespace athanor {

namespace {

using namespace literals;

/// All-reduce of 1 GiB by streaming SHARP over all hosts of a fat tree, in chunks of 64 KiB, at flow level.
void sharp(benchmark::State& state) {
  const auto hosts = static_cast<std::uint32_t>(state.range(0));
  const PeakMemory memory;
  const Cluster cluster = square_fat_tree(hosts);
  const Profile profile;
  const Collective collective{CollectiveKind::all_reduce, hosts, Elements{(1_GiB).count() / 4}};
  Overrides overrides;
  overrides.chunk = 64_KiB;
  RunResult result;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    result = run_collective(
        {.cluster = cluster,
         .profile = profile,
         .collective = collective,
         .algorithms = {&find(CollectiveKind::all_reduce, "aggregation_tree")},
         .overrides = overrides,
         .options = {},
         .aggregation = std::make_shared<const EngineDeployment>(EngineDeployment{find_engine("sharp_v3"), {}})});
  }
  state.counters["simulated_s"] = seconds(result.time);
  state.counters["lanes"] = result.simulated.lanes;
  state.counters["peak_MB"] = memory.megabytes();
}

/// Which switches are joined by which cables, of a fat tree whose leaves have 32 hosts: what finding trees begins with.
void switch_graph(benchmark::State& state) {
  const PeakMemory memory;
  const Cluster cluster = fat_tree_of_radix(static_cast<std::uint32_t>(state.range(0)), 64);
  std::uint32_t switches = 0;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    const SwitchGraph graph(*cluster.fabric);
    switches = graph.size();
    benchmark::DoNotOptimize(graph.distances(0));
  }
  state.counters["switches"] = switches;
  state.counters["peak_MB"] = memory.megabytes();
}

}  // namespace

BENCHMARK(switch_graph)->RangeMultiplier(16)->Range(4096, 65'536)->Unit(benchmark::kMillisecond);
BENCHMARK(sharp)->Name("sharp_all_reduce")->RangeMultiplier(4)->Range(256, 16'384)->Unit(benchmark::kSecond);

}  // namespace athanor
