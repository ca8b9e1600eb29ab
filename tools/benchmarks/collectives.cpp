#include <benchmark/benchmark.h>

#include "algorithms/catalog.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/prepare.hpp"
#include "models/execution/simulate.hpp"
#include "sim/error.hpp"
#include "tools/benchmarks/memory.hpp"
#include "tools/benchmarks/subjects.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators/overrides.hpp"

namespace athanor {

namespace {

using namespace literals;

/// Ring all-reduce of 1 GiB over all endpoints, at flow level. The fabric is built before the clock starts.
void ring(benchmark::State& state, const Cluster& cluster, const Layout& layout, bool classes) {
  const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
  const PeakMemory memory;
  const Collective collective{CollectiveKind::all_reduce, ranks, Elements{(1_GiB).count() / 4}};
  const auto schedule = find(CollectiveKind::all_reduce, "ring").make(collective, layout);
  const Placement placement{cluster.endpoints, 1};
  SimulationOptions options;
  options.classes = classes;
  Simulated simulated;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    simulated = simulate(*schedule, cluster, placement, HardwareOnly{}, options);
  }
  state.counters["simulated_s"] = seconds(simulated.time);
  state.counters["lanes"] = simulated.lanes;
  state.counters["peak_MB"] = memory.megabytes();
}

/// Finding the classes of NVLink SHARP with binary trees between nodes of eight GPUs, in 16 channels; no simulation.
void fold_nodes(benchmark::State& state) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  const PeakMemory memory;
  const Cluster cluster = rail_optimized_nodes(gpus / 8);
  const Layout layout{.channels = 16, .chunk = Elements{1 << 17}, .group = 8};
  const Algorithm& algorithm = find(CollectiveKind::all_reduce, "nvls_tree");
  const auto schedule = algorithm.make({CollectiveKind::all_reduce, gpus, Elements{1 << 28}}, layout);
  Placement placement{cluster.endpoints, 1};
  for (std::uint32_t gpu = 0; gpu < gpus; gpu += 8) {
    const LinkId nvlink{cluster.fabric->out(cluster.endpoints[gpu]).first};
    placement.vertices.push_back(cluster.fabric->target(nvlink));
  }
  PreparedSchedule prepared;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    prepared = prepare(*schedule, cluster, placement, HardwareOnly{}, {}, false);
  }
  state.counters["lanes"] = static_cast<double>(prepared.mapped.lanes.size());
  state.counters["all_lanes"] = static_cast<double>(prepared.mapped.lane_of.size());
  state.counters["peak_MB"] = memory.megabytes();
}

std::uint32_t size_of(const benchmark::State& state) { return static_cast<std::uint32_t>(state.range(0)); }

void ring_with_classes(benchmark::State& state) { ring(state, square_fat_tree(size_of(state)), {}, true); }
void ring_in_full(benchmark::State& state) { ring(state, square_fat_tree(size_of(state)), {}, false); }

constexpr std::uint32_t kChannels = 8;

void ring_by_ecmp(benchmark::State& state) {
  ring(state, fat_tree_of_radix(size_of(state), 32, Routing::ecmp), {.channels = kChannels}, true);
}

/// One host's cable has half the rate.
void ring_with_slow_link(benchmark::State& state) {
  Cluster cluster = fat_tree_of_radix(size_of(state), 64);
  Problems problems;
  apply_overrides(cluster, {LinkOverride{.from = "host5", .to = "leaf*", .rate = 25_GBps}}, problems);
  problems.throw_if_any();
  ring(state, cluster, {.channels = kChannels}, true);
}

void ring_across_leaves(benchmark::State& state) {
  ring(state, nodes_across_leaves(size_of(state) / 8), {.channels = kChannels, .group = 8}, true);
}

}  // namespace

BENCHMARK(ring_with_classes)
    ->Name("ring_all_reduce/with_classes")
    ->RangeMultiplier(4)
    ->Range(256, 16'384)
    ->Unit(benchmark::kSecond);
BENCHMARK(ring_by_ecmp)->Name("ring_all_reduce/ecmp")->Arg(1024)->Unit(benchmark::kSecond);
BENCHMARK(ring_with_slow_link)
    ->Name("ring_all_reduce/slow_link")
    ->RangeMultiplier(4)
    ->Range(1024, 16'384)
    ->Unit(benchmark::kSecond);
BENCHMARK(ring_across_leaves)->Name("ring_all_reduce/straddling_gpus")->Arg(1032)->Unit(benchmark::kSecond);
BENCHMARK(fold_nodes)->Name("fold/nvls_tree_gpus")->Arg(1024)->Arg(16'384)->Unit(benchmark::kSecond);
BENCHMARK(ring_in_full)
    ->Name("ring_all_reduce/in_full")
    ->RangeMultiplier(4)
    ->Range(256, 4096)
    ->Unit(benchmark::kSecond);

}  // namespace athanor
