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

/// A collective over all endpoints, at flow level. `count`: as Collective has it. The fabric is built before the clock
/// starts.
void collective(benchmark::State& state, const Cluster& cluster, const Placement& placement, const Algorithm& algorithm,
                Elements count, const Layout& layout, bool classes = true) {
  const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
  const PeakMemory memory;
  const auto schedule = algorithm.make({algorithm.kind, ranks, count}, layout);
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

constexpr Elements kGibibyte{(1_GiB).count() / 4};

void all_reduce(benchmark::State& state, const Cluster& cluster, const std::string& algorithm, const Layout& layout,
                bool classes = true) {
  collective(state, cluster, {cluster.endpoints, 1}, find(CollectiveKind::all_reduce, algorithm), kGibibyte, layout,
             classes);
}

void ring(benchmark::State& state, const Cluster& cluster, const Layout& layout, bool classes) {
  all_reduce(state, cluster, "ring", layout, classes);
}

/// GPUs, and behind them the NVSwitches of their nodes of eight.
Placement with_nvswitches(const Cluster& cluster) {
  Placement placement{cluster.endpoints, 1};
  for (std::size_t gpu = 0; gpu < cluster.endpoints.size(); gpu += 8) {
    const LinkId nvlink{cluster.fabric->out(cluster.endpoints[gpu]).first};
    placement.vertices.push_back(cluster.fabric->target(nvlink));
  }
  return placement;
}

/// Of NVLink SHARP with binary trees between nodes of eight GPUs.
const Layout kNvlsTree{.channels = 16, .chunk = Elements{1 << 17}, .group = 8};

/// Finding the classes of NVLink SHARP with binary trees between nodes of eight GPUs, in 16 channels; no simulation.
void fold_nodes(benchmark::State& state) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  const PeakMemory memory;
  const Cluster cluster = rail_optimized_nodes(gpus / 8);
  const Algorithm& algorithm = find(CollectiveKind::all_reduce, "nvls_tree");
  const auto schedule = algorithm.make({CollectiveKind::all_reduce, gpus, kGibibyte}, kNvlsTree);
  const Placement placement = with_nvswitches(cluster);
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

// What does not fold, or not far, at the sizes that end in a minute; and what does over a million hosts.

constexpr std::uint32_t kRadixOfMillion = 256;  // of three full tiers over 1,048,576 hosts: 16 * 256^2

void ring_over_hosts(benchmark::State& state) {
  ring(state, fat_tree_of_radix(size_of(state), kRadixOfMillion), {}, true);
}

void halving_doubling_over_hosts(benchmark::State& state) {
  all_reduce(state, fat_tree_of_radix(size_of(state), kRadixOfMillion), "halving_doubling", {});
}

void trees_over_hosts(benchmark::State& state) {
  all_reduce(state, fat_tree_of_radix(size_of(state), kRadixOfMillion), "double_binary_tree",
             {.chunk = Elements{1 << 18}});
}

void nvls_trees_over_gpus(benchmark::State& state) {
  const Cluster cluster = rail_optimized_nodes(size_of(state) / 8);
  collective(state, cluster, with_nvswitches(cluster), find(CollectiveKind::all_reduce, "nvls_tree"), kGibibyte,
             kNvlsTree);
}

/// 64 MiB of each host.
void pairwise_over_hosts(benchmark::State& state) {
  const Cluster cluster = fat_tree_of_radix(size_of(state), kRadixOfMillion);
  const Elements count{(64_MiB).count() / 4 / state.range(0)};
  collective(state, cluster, {cluster.endpoints, 1}, find(CollectiveKind::all_to_all, "pairwise"), count, {});
}

}  // namespace

BENCHMARK(ring_over_hosts)->Name("large/ring")->Arg(1 << 20)->Unit(benchmark::kSecond);
BENCHMARK(halving_doubling_over_hosts)->Name("large/halving_doubling")->Arg(1 << 20)->Unit(benchmark::kSecond);
BENCHMARK(trees_over_hosts)->Name("large/double_binary_tree")->Arg(1024)->Arg(4096)->Unit(benchmark::kSecond);
BENCHMARK(nvls_trees_over_gpus)->Name("large/nvls_tree_gpus")->Arg(1024)->Arg(16'384)->Unit(benchmark::kSecond);
BENCHMARK(pairwise_over_hosts)->Name("large/pairwise")->Arg(4096)->Arg(8192)->Unit(benchmark::kSecond);
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
