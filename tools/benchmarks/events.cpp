// The event queue under the hold model.

#include <cstdint>
#include <queue>
#include <vector>

#include <benchmark/benchmark.h>

#include "sim/event_queue.hpp"
#include "sim/random.hpp"

using namespace athanor;

namespace {

struct Later {
  bool operator()(const Event& a, const Event& b) const { return b.before(a); }
};

/// The standard library's binary heap behind the interface of EventQueue.
class StandardQueue {
 public:
  const Event& top() const { return heap_.top(); }
  void push(const Event& event) { heap_.push(event); }
  void pop() { heap_.pop(); }

 private:
  std::priority_queue<Event, std::vector<Event>, Later> heap_;
};

/// How far in the future the next event lies.
enum class Pattern : std::uint8_t { random, lock_step };

/// The hold model: with `pending` events in the queue, take the earliest and put in one later.
template <class Queue, Pattern pattern>
void hold(benchmark::State& state) {
  RandomStream random(1, "increments");
  std::vector<Time> increments(4096);
  for (Time& increment : increments) {
    increment = pattern == Pattern::lock_step ? Time{1000} : Time{static_cast<std::int64_t>(random.below(1'000'000))};
  }
  Queue queue;
  std::uint64_t order = 0;
  for (; order < static_cast<std::uint64_t>(state.range(0)); ++order) {
    queue.push({increments[order % 4096], order, 0});
  }
  for (auto _ : state) {
    const Event event = queue.top();
    queue.pop();
    queue.push({event.when + increments[order % 4096], order, event.what});
    ++order;
  }
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

BENCHMARK_TEMPLATE(hold, EventQueue, Pattern::random)->Arg(64)->Arg(1024)->Arg(16384);
BENCHMARK_TEMPLATE(hold, StandardQueue, Pattern::random)->Arg(64)->Arg(1024)->Arg(16384);
BENCHMARK_TEMPLATE(hold, EventQueue, Pattern::lock_step)->Arg(64)->Arg(1024)->Arg(16384);
BENCHMARK_TEMPLATE(hold, StandardQueue, Pattern::lock_step)->Arg(64)->Arg(1024)->Arg(16384);
