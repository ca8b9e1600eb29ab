#include "models/network/link_use.hpp"

#include <algorithm>

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

/// A ring all-reduce by all hosts in the order of their numbers, in one loop.
std::vector<LinkClassUse> ring_use(const Cluster& cluster, Elements count, const SimulationOptions& options,
                                   Time& time) {
  const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
  const auto schedule =
      find(CollectiveKind::all_reduce, "ring").make({CollectiveKind::all_reduce, ranks, count}, Layout{});
  const Simulated simulated = simulate(*schedule, cluster, {cluster.endpoints, 1}, UniformCosts{}, options);
  time = simulated.time;
  return link_use(*cluster.fabric, simulated.network.loads, simulated.time);
}

const LinkClassUse& of_class(const std::vector<LinkClassUse>& use, std::string_view name) {
  return *std::find_if(use.begin(), use.end(), [&](const auto& each) { return each.name == name; });
}

}  // namespace

TEST_CASE("a ring all-reduce carries 2(P-1)/P of its payload over every link of its way, simulated one by one or not") {
  for (const std::uint32_t ranks : {2U, 3U, 8U, 33U}) {
    for (const bool classes : {true, false}) {
      for (const NetworkLevel level : {NetworkLevel::ideal, NetworkLevel::flow}) {
        CAPTURE(ranks);
        CAPTURE(classes);
        const Cluster cluster = star(ranks, 10_GBps, 500_ns);
        const Bytes size = 4_KiB * ranks;
        SimulationOptions options;
        options.level = level;
        options.classes = classes;
        Time time;
        const auto use = ring_use(cluster, Elements{size.count() / 4}, options, time);
        const Bytes each = 4_KiB * (2 * (ranks - 1));
        REQUIRE(use.size() == 2);
        for (const LinkClassUse& one : use) {  // up and down
          CHECK(one.links == ranks);
          CHECK(one.used == ranks);
          CHECK(one.carried == each * ranks);
          CHECK(one.most == doctest::Approx(seconds(transfer_time(each, 10_GBps)) / seconds(time)));
          CHECK(one.mean == doctest::Approx(one.most));
        }
      }
    }
  }
}

TEST_CASE("of a ring through a fat tree one host in each leaf uses the spine, which the mean over all links tells") {
  const std::uint32_t leaves = 4;
  const Cluster cluster = square_fat_tree(leaves, 10_GBps, 500_ns);
  const std::uint32_t ranks = leaves * leaves;
  Time time;
  const auto use = ring_use(cluster, Elements{1024 * ranks}, {}, time);
  const Bytes each = 4_KiB * (2 * (ranks - 1));
  const LinkClassUse& up = of_class(use, "network leaf->spine");
  CHECK(up.links == leaves * leaves);
  CHECK(up.used == leaves);
  CHECK(up.carried == each * leaves);
  CHECK(up.mean * leaves == doctest::Approx(up.most));
  CHECK(of_class(use, "network host->leaf").used == ranks);
  CHECK(of_class(use, "network host->leaf").carried == each * ranks);
}

TEST_CASE("links that carried nothing are counted and idle, and nothing is busy in no time") {
  const Cluster cluster = star(3, 10_GBps, 500_ns);
  const LinkId first{0};
  for (const LinkClassUse& one : link_use(*cluster.fabric, {}, 1_us)) {
    CHECK(one.links == 3);
    CHECK(one.used == 0);
    CHECK(one.most == 0);
  }
  const auto use = link_use(*cluster.fabric, {{first, 1, 10_KiB}}, Time::zero());
  CHECK(of_class(use, link_class(*cluster.fabric, first)).used == 1);
  CHECK(of_class(use, link_class(*cluster.fabric, first)).most == 0);
  CHECK(busy_time(*cluster.fabric, {first, 1, 10_KiB}) == transfer_time(10_KiB, 10_GBps));
}
