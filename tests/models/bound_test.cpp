#include "models/execution/bound.hpp"

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/run.hpp"
#include "models/software/profile.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators/overrides.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

CableSpec cable(Bandwidth rate) { return {rate, rate, 500_ns, Time::zero()}; }

Cluster tree(std::uint32_t count, std::uint32_t per_leaf, std::uint32_t spines) {
  ClosSpec spec;
  spec.host_cable = spec.up_cable = spec.core_cable = cable(10_GBps);
  spec.tiers = 2;
  spec.hosts_per_leaf = per_leaf;
  spec.spines = spines;
  return fat_tree(hosts(count), spec);
}

/// One host has a tenth of the rate, outwards only, and another has four times as much.
Cluster uneven_tree() {
  Cluster cluster = tree(16, 4, 4);
  LinkOverride slow{.from = "host5", .to = "leaf1", .both_ways = false, .rate = 1_GBps};
  LinkOverride faster{.from = "host9", .to = "leaf2", .rate = 40_GBps};
  Problems problems;
  apply_overrides(cluster, {slow, faster}, problems);
  REQUIRE(problems.empty());
  return cluster;
}

}  // namespace

TEST_CASE("on one switch the bound is what a rank must send over its link") {
  const Bytes size = 64_MiB;
  for (const std::uint32_t ranks : {2U, 3U, 8U}) {
    const Cluster cluster = star(hosts(ranks), cable(10_GBps));
    CAPTURE(ranks);
    const auto bound = [&](CollectiveKind kind, bool in_network = false) {
      return lower_bound(cluster, {kind, ranks, Elements{size.count() / 4}}, size, in_network).time;
    };
    const Bytes most{(size.count() * (ranks - 1)) / ranks};
    CHECK(bound(CollectiveKind::all_reduce) == transfer_time(Bytes{size.count() * 2 * (ranks - 1) / ranks}, 10_GBps));
    CHECK(bound(CollectiveKind::all_reduce, true) == transfer_time(size, 10_GBps));
    CHECK(bound(CollectiveKind::all_gather) == transfer_time(most, 10_GBps));
    CHECK(bound(CollectiveKind::reduce_scatter) == transfer_time(most, 10_GBps));
    CHECK(bound(CollectiveKind::all_to_all) == transfer_time(most, 10_GBps));
    CHECK(bound(CollectiveKind::broadcast) == transfer_time(size, 10_GBps));
  }
}

TEST_CASE("on an oversubscribed tree a leaf limits all-to-all, and small payloads are limited by latency") {
  const Cluster cluster = tree(16, 8, 2);  // 4:1
  const Bytes size = 16_MiB;
  const Collective exchange{CollectiveKind::all_to_all, 16, Elements{size.count() / 4}};
  const Bound bound = lower_bound(cluster, exchange, size, false);
  CHECK(bound.time == transfer_time(size / 16 * (8 * 8), 20_GBps));
  CHECK(bound.limited_by != "endpoints");
  const Bound small = lower_bound(cluster, {CollectiveKind::all_to_all, 16, Elements{16}}, 64_B, false);
  CHECK(small.time == 2_us);
  CHECK(small.limited_by == "latency");
}

TEST_CASE("what a rank can send does not depend on how many ranks are at its switch") {
  const Bytes size = 64_MiB;
  const Collective collective{CollectiveKind::all_reduce, 8, Elements{size.count() / 4}};
  const Time wanted = lower_bound(star(hosts(8), cable(10_GBps)), collective, size, false).time;
  for (const std::uint32_t per_leaf : {1U, 2U, 4U}) {
    CAPTURE(per_leaf);
    const Bound bound = lower_bound(tree(8, per_leaf, 4), collective, size, false);
    CHECK(bound.time == wanted);
    CHECK(bound.limited_by == "endpoints");
  }
}

TEST_CASE("no algorithm beats the bound, whatever the fabric") {
  const Cluster clusters[] = {star(hosts(9), cable(10_GBps)), tree(9, 3, 1), tree(16, 4, 4), uneven_tree()};
  const Profile profile;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.engine != Engine::none) { continue; }
    for (const Cluster& cluster : clusters) {
      const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
      for (const std::int64_t count : {1, 1000, 1'000'000}) {
        const Collective collective{algorithm.kind, ranks, Elements{count}};
        if (algorithm.refuses(collective, {})) { continue; }
        CAPTURE(algorithm.name);
        CAPTURE(ranks);
        CAPTURE(count);
        const RunResult result = run_collective({cluster, profile, collective, Bytes{4}, {&algorithm}, {}, {}, 1});
        CHECK(result.time >= result.bound.time);
      }
    }
  }
}
