#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/simulate.hpp"
#include "models/shared_memory/caches.hpp"
#include "topologies/generators.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// Bytes cost so much wherever they are, and nothing else does.
ThreadCosts only_bytes(Bandwidth rate) {
  ThreadCosts costs;
  costs.spin_time = Time::max();
  costs.memory_rate = rate;
  return costs;
}

Time time_of(CollectiveKind kind, std::string_view algorithm, std::uint32_t ranks, Elements count,
             std::uint32_t processors, const ThreadCosts& costs) {
  const auto schedule = find(kind, algorithm).make({.kind = kind, .ranks = ranks, .count = count}, {});
  return simulate_on_threads(*schedule, processors, costs, 4_B, schedule->least_slots(), {}).time;
}

}  // namespace

TEST_CASE("ranks that do equal work take total work / processors, on one, two and as many processors as ranks") {
  // Each rank of a one-shot all-reduce reads P inputs and writes one output; with more than two inputs the sum is read
  // and written once more for each further one.
  const Bandwidth rate = 1_GBps;
  for (const std::uint32_t ranks : {2U, 4U, 8U}) {
    const Elements count{4096};
    const Time one = transfer_time(4_B * count.count(), rate);
    for (const std::uint32_t processors : {1U, 2U, ranks}) {
      CAPTURE(ranks);
      CAPTURE(processors);
      CHECK(time_of(CollectiveKind::all_reduce, "direct_one_shot", ranks, count, processors, only_bytes(rate)) ==
            one * (ranks * (3 * ranks - 3) / processors));
    }
  }
}

TEST_CASE("overheads alone: one processor adds up primitives, messages, turns and lanes") {
  ThreadCosts costs = only_bytes(Bandwidth::max());
  costs.primitive = 10_ns;
  costs.port = 3_ns;
  // Two ranks of one lane: a send, and a receive that finds its message.
  const Time time = time_of(CollectiveKind::send_receive, "direct", 2, Elements{1}, 1, costs);
  CHECK(time == (10_ns + 3_ns) * 2);
  costs.lane = 100_ns;
  costs.dispatch = 7_ns;
  costs.start = 1_us;
  CHECK(time_of(CollectiveKind::send_receive, "direct", 2, Elements{1}, 1, costs) == time + 1_us + (100_ns + 7_ns) * 2);
}

TEST_CASE("a message to another processor is noticed later, and far later by one that has fallen asleep") {
  ThreadCosts costs = only_bytes(Bandwidth::max());
  costs.primitive = 1_us;
  costs.remote_port = 50_ns;
  const auto time = [&] { return time_of(CollectiveKind::send_receive, "direct", 2, Elements{1}, 2, costs); };
  CHECK(time() == (1_us + 50_ns) * 2);
  costs.poll_delay = 300_ns;
  CHECK(time() == (1_us + 50_ns) * 2 + 300_ns);
  costs.wake = 40_us;
  costs.spin_time = 1'350_ns;  // as long as it waits
  CHECK(time() == (1_us + 50_ns) * 2 + 300_ns);
  costs.spin_time = 1'349_ns;
  CHECK(time() == (1_us + 50_ns) * 2 + 300_ns + 40_us);
}

TEST_CASE("the same run takes the same time, to the picosecond") {
  ThreadCosts costs = only_bytes(13_GBps);
  costs.caches = {{48_KiB, 350_GBps, false, 10_GBps}, {2_MiB, 95_GBps, false, 20_GBps}, {85_MiB, 27_GBps, true, {}}};
  costs.primitive = 60_ns;
  costs.remote_port = 190_ns;
  costs.poll_delay = 90_ns;
  for (const Algorithm& algorithm : catalog()) {
    const Collective collective{.kind = algorithm.kind, .ranks = 4, .count = Elements{10'000}};
    if (algorithm.kind != CollectiveKind::all_reduce || algorithm.engine != Engine::none) { continue; }
    if (algorithm.refuses(collective, {})) { continue; }
    CAPTURE(algorithm.name);
    const auto run = [&] { return time_of(algorithm.kind, algorithm.name, 4, collective.count, 2, costs); };
    CHECK(run() == run());
    CHECK(run() > Time::zero());
  }
}

TEST_CASE("bytes come from the nearest cache that keeps them, and from another processor where it wrote them") {
  ThreadCosts costs;
  costs.caches = {{Bytes{1'000}, 8_GBps, false, 2_GBps}, {Bytes{100'000}, 4_GBps, true, {}}};
  costs.memory_rate = 1_GBps;
  Caches caches(costs, 2);
  const auto access = [&](std::uint32_t processor, std::int64_t first, std::int64_t bytes, bool writes) {
    const Access one{first, first + bytes, !writes, writes};
    return caches.access(processor, {&one, 1});
  };
  CHECK(access(0, 0, 400, true) == 400_ns);       // never touched: memory
  CHECK(access(0, 0, 400, false) == 50_ns);       // nearest cache
  CHECK(access(1, 0, 400, false) == 200_ns);      // that of processor 0
  CHECK(access(1, 0, 400, false) == 50_ns);       // now its own, too
  CHECK(access(0, 5'000, 2'000, false) == 2_us);  // pushes the others out
  CHECK(access(0, 0, 400, false) == 100_ns);      // shared cache
  CHECK(access(0, 0, 200, true) == 100_ns);       // taken from processor 1, which still keeps it
  CHECK(access(1, 200, 200, false) == 25_ns);     // the other half was not
}

TEST_CASE("between 3/4 and 3/2 of its size a cache keeps a part") {
  ThreadCosts costs;
  costs.caches = {{Bytes{1'000}, 8_GBps, false, 8_GBps}};
  costs.memory_rate = 1_GBps;
  for (const auto& [touched, kept] : {std::pair{750, 750}, {1'125, 562}, {1'500, 0}}) {
    Caches caches(costs, 1);
    const Access all{0, touched, true, false};
    caches.access(0, {&all, 1});
    CAPTURE(touched);
    CHECK(caches.access(0, {&all, 1}) ==
          transfer_time(Bytes{kept}, 8_GBps) + transfer_time(Bytes{touched - kept}, 1_GBps));
  }
}

TEST_CASE("what was touched since is counted once, however often") {
  LruOrder recency;
  const auto first = recency.touch(LruOrder::kNever, 10_B);
  auto second = recency.touch(LruOrder::kNever, 5_B);
  for (int i = 0; i < 100; ++i) { second = recency.touch(second, 5_B); }
  CHECK(recency.since(first) == 15_B);
  CHECK(recency.since(second) == 5_B);
  recency.drop(second, 5_B);
  CHECK(recency.since(first) == 10_B);
}
