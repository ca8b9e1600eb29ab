#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate_calls.hpp"
#include "tests/models/padded_collective.hpp"
#include "tests/models/small_clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

constexpr Bandwidth kRate{12'500'000'000};
constexpr Time kAlpha = 2_us;
constexpr Time kGap = 7_us;

struct Called {
  Time once;
  SimulatedCalls many;
};

Called call(const Algorithm& algorithm, const Collective& collective, const Layout& layout, const Cluster& cluster,
            const CostModel& costs, const CallLoop& loop, const SimulationOptions& options = {}) {
  const auto schedule = algorithm.make(collective, layout);
  const Placement placement{{cluster.endpoints.begin(), cluster.endpoints.begin() + collective.ranks}, 1};
  return {simulate(*schedule, cluster, placement, costs, options).time,
          simulate_calls(*schedule, cluster, placement, costs, options, loop)};
}

}  // namespace

TEST_CASE("calls of a chain follow each other by what one rank does, and one by itself takes the whole chain") {
  const UniformCosts costs;  // a message is sent when it has arrived
  constexpr Elements kChunk{25'000};
  const Time hop = kAlpha + transfer_time(costs.element * kChunk.count(), kRate);
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    for (const std::uint32_t ranks : {2U, 3U, 8U, 16U}) {
      for (const std::int64_t chunks : {1, 2, 5, 40}) {
        for (const std::uint32_t calls : {2U, 3U, 20U, 100'000U}) {
          CAPTURE(name(kind));
          CAPTURE(ranks);
          CAPTURE(chunks);
          CAPTURE(calls);
          const Collective collective{kind, ranks, kChunk * chunks};
          const Called run = call(find(kind, "ring"), collective, Layout{.chunk = kChunk},
                                  star(ranks, kRate, kAlpha / 2), costs, {calls, kGap});
          const Time period = hop * chunks + kGap;
          CHECK(run.once == hop * (ranks - 2 + chunks));
          CHECK(run.many.period == period);
          // All ranks but the last in the chain end one hop after the one before them.
          const std::int64_t hops = std::int64_t{ranks - 1} * (ranks - 2) / 2 + ranks - 2 + ranks * chunks;
          CHECK(run.many.end == period * (calls - 1) + hop * hops / ranks);
        }
      }
    }
  }
}

TEST_CASE("a root that scatters is held up by its port, not by the way to the others") {
  UniformCosts costs;
  costs.connection_cost.end = SendEnd::injected;
  for (const std::uint32_t ranks : {2U, 5U, 9U}) {  // whose messages share the port without a remainder
    CAPTURE(ranks);
    const Collective collective{CollectiveKind::scatter, ranks, Elements{25'000} * ranks};
    const Called run = call(find(CollectiveKind::scatter, "linear"), collective, Layout{},
                            star(ranks, kRate, kAlpha / 2), costs, {20, kGap});
    const Time port = transfer_time(Bytes{100'000} * (ranks - 1), kRate);
    CHECK(run.once == kAlpha + port);
    CHECK(run.many.period == kGap + port);
  }
}

TEST_CASE("where all ranks are done at once, calls follow each other by what one takes and a launch") {
  const UniformCosts costs;
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    for (const std::uint32_t channels : {1U, 3U}) {
      CAPTURE(name(kind));
      const Layout layout{channels, Elements{1500}, 2};
      const Collective collective = padded(find(kind, "ring"), 8, 48'000, layout);
      const Called run = call(find(kind, "ring"), collective, layout, star(8, kRate, 1_us), costs, {20, kGap});
      CHECK(run.many.period == run.once + kGap);
      CHECK(run.many.end == (run.once + kGap) * 20 - kGap);
      CHECK(run.many.exact);
    }
  }
}

TEST_CASE("a sender goes on as far as slots let it") {
  UniformCosts costs;
  costs.connection_cost.end = SendEnd::copied;
  costs.agent_cost.overhead = 1_us;
  costs.agent_cost.unpack_rate = Bandwidth{1'000'000'000};
  const Elements chunk{25'000};  // 100 us to copy out of the buffer
  for (const std::uint32_t slots : {1U, 4U, 8U}) {
    costs.slot_count = slots;
    const Collective collective{CollectiveKind::broadcast, 2, chunk * 16};
    const Called run = call(find(CollectiveKind::broadcast, "ring"), collective, Layout{.chunk = chunk},
                            star(2, kRate, 1_us), costs, {2'000, kGap});
    CAPTURE(slots);
    CHECK(run.many.exact);
    // The receiver decides, who never waits for the sender where that is a call's launch ahead.
    if (slots > 1) { CHECK(run.many.period == 101_us * 16 + kGap); }
    if (slots == 1) { CHECK(run.many.period > 101_us * 16 + kGap); }
  }
}

TEST_CASE("for every algorithm, calls of one of each class take as long as of all, multiplied or not") {
  UniformCosts costs;
  costs.agent_cost = {300_ns, 200_GBps, 400_GBps, true};
  costs.connection_cost.latency = 200_ns;
  costs.connection_cost.end = SendEnd::paced;
  costs.connection_cost.injection_rate = 4_GBps;
  costs.slot_count = 3;
  const Cluster cluster = square_fat_tree(4, 3_GBps, 400_ns);
  for (const Algorithm& algorithm : catalog()) {
    for (const std::uint32_t ranks : {2U, 5U, 16U}) {
      const Layout layout{2, Elements{1500}, 2};
      const Collective collective = padded(algorithm, ranks, 48'000, layout);
      if (algorithm.engine != Engine::none || algorithm.refuses(collective, layout)) { continue; }
      CAPTURE(algorithm.name);
      CAPTURE(name(algorithm.kind));
      CAPTURE(ranks);
      SimulationOptions all;
      all.classes = all.repeat_loops = false;
      const CallLoop loop{7, 3_us};
      const SimulatedCalls expected = call(algorithm, collective, layout, cluster, costs, loop, all).many;
      for (const bool classes : {false, true}) {
        SimulationOptions part;
        part.classes = classes;
        const Called run = call(algorithm, collective, layout, cluster, costs, loop, part);
        CHECK(run.many.end == expected.end);
      }
    }
  }
}
