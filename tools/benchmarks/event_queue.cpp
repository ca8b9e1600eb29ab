#include "sim/event_queue.hpp"

#include <random>

#include <benchmark/benchmark.h>

namespace athanor {

namespace {

/// The hold model: so many events are pending; the earliest is taken out and comes back a random time later.
void hold(benchmark::State& state) {
  std::mt19937_64 random{1};
  EventQueue queue;
  std::uint64_t order = 0;
  const auto push = [&](Time now) {
    queue.push({now + Time{static_cast<std::int64_t>(random() % 1'000'000)}, order, order});
    ++order;
  };
  for (std::int64_t pending = 0; pending < state.range(0); ++pending) { push(Time::zero()); }
  for (auto iteration : state) {
    static_cast<void>(iteration);
    const Time now = queue.top().when;
    queue.pop();
    push(now);
  }
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

BENCHMARK(hold)->Name("event_queue/hold")->RangeMultiplier(32)->Range(32, 1 << 20);

}  // namespace athanor
