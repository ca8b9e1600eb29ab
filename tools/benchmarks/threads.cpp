#include "algorithms/execution/threads/threads.hpp"

#include <algorithm>
#include <cstring>

#include <benchmark/benchmark.h>

#include "algorithms/catalog.hpp"

namespace athanor {

namespace {

/// All-reduce by a ring over `ranks` ranks of range(0) MiB of float32, in chunks of range(1) KiB (0: uncut).
void ring_on_threads(benchmark::State& state, std::uint32_t ranks, bool in_place, bool may_refer) {
  const std::int64_t bytes = state.range(0) << 20;
  Layout layout;
  if (state.range(1) > 0) { layout.chunk = Elements{(state.range(1) << 10) / 4}; }
  const Collective collective{CollectiveKind::all_reduce, ranks, Elements{bytes / 4}, 0, in_place};
  const auto schedule = find(collective.kind, "ring").make(collective, layout);
  const RankMemory memory(*schedule, DataType::float32);
  for (const RankBuffers& buffers : memory.buffers()) {
    std::fill(buffers.input.begin(), buffers.input.end(), std::byte{0});
    std::fill(buffers.output.begin(), buffers.output.end(), std::byte{0});
  }
  PreparedExecution execution(
      *schedule, {.buffers = memory.buffers(), .workers = {}, .slots = {}, .messages_may_refer = may_refer});
  double least = 1e30;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    const double time = std::chrono::duration<double>(execution.run().durations.front()).count();
    state.SetIterationTime(time);
    least = std::min(least, time);
  }
  const double bus_bytes = static_cast<double>(bytes) * 2 * (ranks - 1) / ranks;
  state.counters["busbw_GBps"] = benchmark::Counter(bus_bytes / 1e9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["best_GBps"] = bus_bytes / 1e9 / least;
}

void out_of_place(benchmark::State& state) { ring_on_threads(state, 2, false, true); }
void in_place(benchmark::State& state) { ring_on_threads(state, 2, true, true); }
void copied(benchmark::State& state) { ring_on_threads(state, 2, false, false); }

/// What the memory of this machine gives one thread, to compare with.
void copying(benchmark::State& state) {
  const PageMemory from(static_cast<std::size_t>(state.range(0)) << 20);
  const PageMemory to(from.bytes().size());
  std::fill(from.bytes().begin(), from.bytes().end(), std::byte{1});
  for (auto iteration : state) {
    static_cast<void>(iteration);
    std::memcpy(to.bytes().data(), from.bytes().data(), from.bytes().size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * (state.range(0) << 20));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"MiB", "chunk_KiB"})->UseManualTime()->Unit(benchmark::kMillisecond);
  for (const std::int64_t chunk : {0, 64, 256, 1024, 4096}) { benchmark->Args({64, chunk}); }
}

}  // namespace

BENCHMARK(out_of_place)->Name("ring_on_threads/out_of_place")->Apply(sizes);
BENCHMARK(in_place)->Name("ring_on_threads/in_place")->Apply(sizes);
BENCHMARK(copied)->Name("ring_on_threads/messages_copied")->Apply(sizes);
BENCHMARK(copying)->Name("memcpy")->ArgName("MiB")->Arg(64)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace athanor
