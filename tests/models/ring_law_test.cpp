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

Placement endpoints(const Cluster& cluster, std::uint32_t ranks) {
  return {{cluster.endpoints.begin(), cluster.endpoints.begin() + ranks}, 1};
}

Simulated ring(const Cluster& cluster, std::uint32_t ranks, Elements count, const CostModel& costs,
               const SimulationOptions& options = {}, const Layout& layout = {}) {
  const Collective collective{CollectiveKind::all_reduce, ranks, count};
  const auto schedule = find(CollectiveKind::all_reduce, "ring").make(collective, layout);
  return simulate(*schedule, cluster, endpoints(cluster, ranks), costs, options);
}

}  // namespace

TEST_CASE("a serial ring all-reduce takes 2(P-1)(alpha + m beta) + (P-1) m gamma, to the picosecond") {
  const Time alpha = 1_us;
  const Bandwidth rate{12'500'000'000};
  UniformCosts costs;
  costs.agent_cost.reduce_rate = 200_GBps;
  for (const NetworkLevel level : {NetworkLevel::ideal, NetworkLevel::flow}) {
    for (std::uint32_t ranks = 2; ranks <= 64; ++ranks) {
      for (const std::int64_t elements_each : {0, 1, 1000, 262'144}) {
        CAPTURE(ranks);
        CAPTURE(elements_each);
        const Cluster cluster = star(ranks, rate, alpha / 2);
        const Bytes m{elements_each * 4};
        const Time step = alpha + transfer_time(m, rate);
        const Time expected = step * (2 * (ranks - 1)) + transfer_time(m, 200_GBps) * (ranks - 1);
        SimulationOptions options;
        options.level = level;
        CHECK(ring(cluster, ranks, Elements{elements_each * ranks}, costs, options).time == expected);
      }
    }
  }
}

TEST_CASE("ring all-reduce of 1 GiB on a non-blocking fat tree takes what its slowest hop allows") {
  const UniformCosts costs;
  const Bandwidth rate{12'500'000'000};
  for (const auto& [leaves, picoseconds] :
       {std::pair{8U, 169'366'337'280}, {16U, 172'147'603'200}, {32U, 175'722'919'680}}) {
    const std::uint32_t hosts = leaves * leaves;
    const Cluster cluster = square_fat_tree(leaves, rate, 500_ns);
    const Elements count{(1_GiB).count() / 4};
    const Bytes chunk = 1_GiB / hosts;
    for (const bool classes : {true, false}) {
      SimulationOptions options;
      options.classes = classes;
      const Simulated simulated = ring(cluster, hosts, count, costs, options);
      CHECK(simulated.time == (2_us + transfer_time(chunk, rate)) * (2 * (hosts - 1)));
      CHECK(simulated.time == Time{picoseconds});
      CHECK(simulated.all_lanes == hosts);
      CHECK(simulated.lanes == (classes ? leaves : hosts));
    }
  }
}

TEST_CASE("folding equal agents and multiplying loops change no result") {
  UniformCosts costs;
  costs.agent_cost = {700_ns, 300_GBps, Bandwidth::max(), true};
  costs.slot_count = 4;
  costs.agent_cost.unpack_rate = 50_GBps;
  for (const auto& [end, grain] : {std::pair{SendEnd::copied, 0_B},
                                   {SendEnd::paced, 0_B},
                                   {SendEnd::paced, 1_KiB},
                                   {SendEnd::injected, 0_B},
                                   {SendEnd::delivered, 0_B},
                                   {SendEnd::injected, 1_KiB}}) {
    for (const std::uint32_t channels : {1U, 3U}) {
      for (const std::uint32_t slices : {1U, 2U}) {
        costs.connection_cost = {300_ns, 10_GBps, grain, end, 9_GBps};
        const Cluster cluster = square_fat_tree(4, 12_GBps, 400_ns);
        const Layout layout{channels, Elements{1 << 16}, slices};
        const Elements count{std::int64_t{16} * (1 << 16) * channels * 40};
        SimulationOptions all;
        all.classes = false;
        all.repeat_loops = false;
        const Simulated whole = ring(cluster, 16, count, costs, all, layout);
        for (const auto& [classes, repeat] : {std::pair{true, false}, {false, true}, {true, true}}) {
          CAPTURE(channels);
          CAPTURE(slices);
          CAPTURE(classes);
          CAPTURE(repeat);
          SimulationOptions some;
          some.classes = classes;
          some.repeat_loops = repeat;
          const Simulated part = ring(cluster, 16, count, costs, some, layout);
          CHECK(part.time == whole.time);
          CHECK((part.skipped_loops > 20 || part.events == 0) == repeat);  // multiplied, or settled without events
          CHECK((part.lanes < part.all_lanes) == classes);
          Bytes carried_whole;
          Bytes carried_part;
          for (const LinkLoad& load : whole.network.loads) { carried_whole += load.carried * load.members; }
          for (const LinkLoad& load : part.network.loads) { carried_part += load.carried * load.members; }
          CHECK(carried_part == carried_whole);
        }
      }
    }
  }
}

TEST_CASE("a receiver that starts on the first grain pays one grain per hop instead of one message") {
  // A broadcast down a ring of P ranks in one message: whole messages cost (P-1)(alpha + n beta), grains
  // alpha (P-1) + n beta + one grain for each rank that passes it on.
  const Bandwidth rate = 10_GBps;
  const Bytes size = 1_MiB;
  const Bytes grain = 1_KiB;
  for (const std::uint32_t ranks : {2U, 3U, 8U}) {
    const Cluster cluster = star(ranks, rate, 500_ns);
    const Collective collective{CollectiveKind::broadcast, ranks, Elements{size.count() / 4}};
    const auto schedule = find(CollectiveKind::broadcast, "ring").make(collective, {});
    UniformCosts costs;
    costs.connection_cost = {Time::zero(), rate, Bytes::zero(), SendEnd::injected};
    const Time whole = simulate(*schedule, cluster, endpoints(cluster, ranks), costs, {}).time;
    CHECK(whole == (1_us + transfer_time(size, rate)) * (ranks - 1));
    costs.connection_cost.grain = grain;
    const Time cut_through = simulate(*schedule, cluster, endpoints(cluster, ranks), costs, {}).time;
    CHECK(cut_through == 1_us * (ranks - 1) + transfer_time(size, rate) + transfer_time(grain, rate) * (ranks - 2));
  }
}

TEST_CASE("a paced sender's own work hides behind the links, or limits them") {
  // Chunks of S from one rank to another: the sender is busy o + S/p with each, the link S/L, the receiver o + S/k. The
  // slowest of the three decides, and the others are seen once.
  const Bytes chunk = 64_KiB;
  constexpr std::int64_t kChunks = 50;
  const Cluster cluster = star(2, 10_GBps, 500_ns);
  const Collective collective{CollectiveKind::broadcast, 2, Elements{chunk.count() / 4 * kChunks}};
  Layout layout;
  layout.chunk = Elements{chunk.count() / 4};
  const auto schedule = find(CollectiveKind::broadcast, "ring").make(collective, layout);
  UniformCosts costs;
  costs.agent_cost.overhead = 2_us;
  costs.connection_cost.end = SendEnd::paced;
  const auto time = [&](Bandwidth pace, Bandwidth keep) {
    costs.connection_cost.injection_rate = pace;
    costs.agent_cost.unpack_rate = keep;
    return simulate(*schedule, cluster, endpoints(cluster, 2), costs, {}).time;
  };
  const Time link = transfer_time(chunk, 10_GBps);
  const auto busy = [&](Bandwidth rate) { return 2_us + transfer_time(chunk, rate); };
  const Time once = 2_us + link + 1_us;
  CHECK(time(20_GBps, Bandwidth::max()) == once + link * (kChunks - 1) + 2_us);
  CHECK(time(20_GBps, 40_GBps) == once + link * (kChunks - 1) + busy(40_GBps));
  CHECK(time(5_GBps, 40_GBps) == busy(5_GBps) * kChunks);  // the receiver is done before
  CHECK(time(20_GBps, 4_GBps) == once + busy(4_GBps) * kChunks);
}

TEST_CASE("grains cost nothing where messages are no larger than one") {
  const Cluster cluster = square_fat_tree(2, 10_GBps, 500_ns);
  UniformCosts costs;
  costs.connection_cost.end = SendEnd::injected;
  const Time whole = ring(cluster, 4, Elements{4}, costs).time;
  costs.connection_cost.grain = 16_B;
  CHECK(ring(cluster, 4, Elements{4}, costs).time == whole);
}
