#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "tests/models/small_clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

constexpr Bandwidth kRate{10'000'000'000};
constexpr Time kLatency{1'000'000};
constexpr Time kHandshake{3'000'000};

UniformCosts with_limit(Bytes eager, SendEnd end = SendEnd::delivered) {
  UniformCosts costs;
  costs.connection_cost.end = end;
  costs.connection_cost.eager = eager;
  costs.connection_cost.handshake = kHandshake;
  return costs;
}

Simulated run(CollectiveKind kind, std::uint32_t ranks, Bytes size, const CostModel& costs, const Layout& layout = {},
              const SimulationOptions& options = {}) {
  const Cluster cluster = star(ranks, kRate, kLatency / 2);
  const auto schedule =
      find(kind, "ring").make({.kind = kind, .ranks = ranks, .count = Elements{size.count() / 4}}, layout);
  return simulate(*schedule, cluster, {cluster.endpoints, 1}, costs, options);
}

}  // namespace

TEST_CASE("a message of the eager limit goes at once, and one element more costs a handshake") {
  for (const NetworkLevel level : {NetworkLevel::ideal, NetworkLevel::flow}) {
    for (const std::uint32_t ranks : {2U, 3U, 8U}) {
      SimulationOptions options;
      options.level = level;
      for (const Bytes message : {4_KiB, 4_KiB + 4_B}) {
        const Time handshake = message > 4_KiB ? kHandshake : Time::zero();
        const Time step = kLatency + handshake + transfer_time(message, kRate);
        CHECK(run(CollectiveKind::all_reduce, ranks, message * ranks, with_limit(4_KiB), {}, options).time ==
              step * (2 * (ranks - 1)));
      }
    }
  }
}

TEST_CASE("handshakes overlap with what moves before, so that a stream of messages pays one") {
  // Two ranks, broadcast in chunks: the sender goes on at once and has slots for all.
  UniformCosts costs = with_limit(1_KiB, SendEnd::copied);
  costs.slot_count = 64;
  const Layout layout{.chunk = Elements{16 * 256}};
  for (const std::int64_t chunks : {1, 2, 16, 64}) {
    const Bytes chunk = 16_KiB;
    CHECK(run(CollectiveKind::broadcast, 2, chunk * chunks, costs, layout).time ==
          kHandshake + transfer_time(chunk, kRate) * chunks + kLatency);
  }
}

TEST_CASE("a small message does not overtake the large one before it") {
  // The last chunk is below the limit; it leaves when the one before has left, and is there right behind it.
  UniformCosts costs = with_limit(1_KiB, SendEnd::copied);
  const Layout layout{.chunk = Elements{16 * 256}};
  CHECK(run(CollectiveKind::broadcast, 2, 16_KiB + 64_B, costs, layout).time ==
        kHandshake + transfer_time(16_KiB, kRate) + transfer_time(64_B, kRate) + kLatency);
}

TEST_CASE("folding equal agents and multiplying loops change nothing with handshakes") {
  for (const SendEnd end : {SendEnd::copied, SendEnd::injected, SendEnd::delivered}) {
    UniformCosts costs = with_limit(2_KiB, end);
    costs.slot_count = 4;
    const Layout layout{.chunk = Elements{8 * 1024}};
    SimulationOptions all;
    all.classes = all.repeat_loops = false;
    const Simulated whole = run(CollectiveKind::all_reduce, 8, 8_MiB, costs, layout, all);
    const Simulated part = run(CollectiveKind::all_reduce, 8, 8_MiB, costs, layout);
    CHECK(part.time == whole.time);
    CHECK(part.lanes < whole.lanes);
    CHECK(part.skipped_loops > 20);
  }
}
