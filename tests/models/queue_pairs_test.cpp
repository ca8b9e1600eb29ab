#include "models/network/queue_pairs.hpp"

#include <map>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "tests/models/small_clusters.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

CableSpec cable(Bandwidth rate) { return {rate, rate, 500_ns, Time::zero()}; }

/// Two leaves; cables of hosts are faster than all spines together, so that only those limit.
Cluster narrow_tree(std::uint32_t count, std::uint32_t spines, std::uint64_t seed) {
  ClosSpec spec;
  spec.host_cable = cable(1000_GBps);
  spec.up_cable = spec.core_cable = cable(10_GBps);
  spec.tiers = 2;
  spec.hosts_per_leaf = count / 2;
  spec.spines = spines;
  return fat_tree(hosts(count), spec, {Routing::ecmp, seed});
}

Simulated run(std::string_view name, CollectiveKind kind, std::uint32_t ranks, Bytes size, const Cluster& cluster,
              std::uint32_t queue_pairs, const SimulationOptions& options = {}, const Layout& layout = {}) {
  UniformCosts costs;
  costs.slot_count = 3;
  const Algorithm& algorithm = find(kind, name);
  const auto schedule = algorithm.make({kind, ranks, Elements{size.count() / 4}}, layout);
  Placement placement{{cluster.endpoints.begin(), cluster.endpoints.begin() + ranks}, 3};
  placement.queue_pairs = queue_pairs;
  return simulate(*schedule, cluster, placement, costs, options);
}

/// Hears of whole messages and counts them.
class Counter : public MoveListener {
 public:
  void injected(ConnectionId connection) override { ++seen[{0, connection.value}]; }
  void grain_arrived(ConnectionId connection) override { ++seen[{1, connection.value}]; }
  void delivered(ConnectionId connection) override { ++seen[{2, connection.value}]; }
  std::map<std::pair<int, std::uint32_t>, int> seen;
};

/// Remembers what it is given to move.
class Recorder : public Network {
 public:
  void move(ConnectionId connection, Bytes size) override { moves.emplace_back(connection.value, size); }
  Bytes carried(LinkIndex) const override { return {}; }
  void snapshot(std::vector<std::int64_t>&) const override {}
  void fast_forward(Time, std::int64_t, const CarriedBytes&) override {}
  std::vector<std::pair<std::uint32_t, Bytes>> moves;
};

}  // namespace

TEST_CASE("a message is split to the byte, as evenly as it goes") {
  for (const std::uint32_t pairs : {1U, 2U, 3U, 8U}) {
    for (const std::int64_t size : {0, 1, 2, 7, 8, 1000, 1001}) {
      CAPTURE(pairs);
      CAPTURE(size);
      Counter counter;
      Recorder recorder;
      QueuePairs split(counter, 3, pairs);
      split.over(recorder);
      split.move(ConnectionId{2}, Bytes{size});
      REQUIRE(recorder.moves.size() == pairs);
      Bytes sum;
      for (std::uint32_t pair = 0; pair < pairs; ++pair) {
        CHECK(recorder.moves[pair].first == 2 * pairs + pair);
        CHECK(recorder.moves[pair].second >= Bytes{size / pairs});
        CHECK(recorder.moves[pair].second <= Bytes{size / pairs + 1});
        sum += recorder.moves[pair].second;
      }
      CHECK(sum == Bytes{size});
    }
  }
}

TEST_CASE("a message is told of when its last part is, whatever runs ahead") {
  Counter counter;
  QueuePairs split(counter, 2, 3);
  split.delivered(ConnectionId{3});
  split.delivered(ConnectionId{3});
  split.delivered(ConnectionId{4});
  CHECK(counter.seen.empty());
  split.delivered(ConnectionId{5});
  CHECK(counter.seen[{2, 1}] == 1);
  split.delivered(ConnectionId{5});
  split.injected(ConnectionId{4});
  CHECK(counter.seen[{2, 1}] == 1);
  split.delivered(ConnectionId{4});
  CHECK(counter.seen[{2, 1}] == 2);
  CHECK(counter.seen.size() == 1);
}

TEST_CASE("where only one way leads, queue pairs change nothing beyond the rounding of rates") {
  const Cluster cluster = athanor::testing::star(6, 10_GBps, 500_ns);
  const Time alone = run("ring", CollectiveKind::all_reduce, 6, 6_MiB, cluster, 1).time;
  for (const std::uint32_t pairs : {2U, 3U, 8U}) {
    CAPTURE(pairs);
    const Time shared = run("ring", CollectiveKind::all_reduce, 6, 6_MiB, cluster, pairs).time;
    CHECK(shared >= alone);
    CHECK(shared <= alone + 10_ps * 10 * pairs);
  }
}

TEST_CASE("a connection takes as long as the up-link on which most of its queue pairs meet") {
  const Bytes size = 64_MiB;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    for (const std::uint32_t pairs : {1U, 2U, 4U, 16U, 64U}) {
      const Cluster cluster = narrow_tree(2, 4, seed);
      const Simulated simulated = run("direct", CollectiveKind::send_receive, 2, size, cluster, pairs);
      std::uint32_t most = 0;
      std::uint32_t ways = 0;
      for (const LinkLoad& load : simulated.network.loads) {
        if (cluster.fabric->vertex(cluster.fabric->source(load.link)).kind != VertexKind::leaf) { continue; }
        if (cluster.fabric->vertex(cluster.fabric->target(load.link)).kind != VertexKind::spine) { continue; }
        ++ways;
        most = std::max(most, static_cast<std::uint32_t>(load.carried * pairs / size));
      }
      CAPTURE(seed);
      CAPTURE(pairs);
      const Time law = 2_us + transfer_time(size / pairs * most, 10_GBps);
      CHECK(simulated.time >= law);
      CHECK(simulated.time <= law + 1_ns);
      CHECK(ways <= std::min(pairs, 4U));
      if (pairs == 64) {
        CHECK(ways == 4);
        CHECK(most < 32);
      }
    }
  }
}

TEST_CASE("classes and repeated loops stay exact with queue pairs") {
  for (const std::uint64_t seed : {1U, 2U}) {
    const Cluster clusters[] = {narrow_tree(8, 3, seed), square_fat_tree(3, 3_GBps, 400_ns)};
    for (const Cluster& cluster : clusters) {
      for (const std::string name : {"ring", "recursive_doubling"}) {
        SimulationOptions whole;
        whole.classes = whole.repeat_loops = false;
        const Layout layout{2, Elements{1500}, 1};
        const auto time = [&](const SimulationOptions& options) {
          return run(name, CollectiveKind::all_reduce, 8, 384_KiB, cluster, 3, options, layout).time;
        };
        CAPTURE(seed);
        CAPTURE(name);
        CHECK(time({}) == time(whole));
      }
    }
  }
}

TEST_CASE("at packet level queue pairs spread over the ways too") {
  const Cluster cluster = narrow_tree(2, 4, 3);
  SimulationOptions options;
  options.level = NetworkLevel::packet;
  const Bytes size = 4_MiB;
  const Time one = run("direct", CollectiveKind::send_receive, 2, size, cluster, 1, options).time;
  const Time many = run("direct", CollectiveKind::send_receive, 2, size, cluster, 32, options).time;
  const Time flows = run("direct", CollectiveKind::send_receive, 2, size, cluster, 32).time;
  CHECK(many < one / 2);
  CHECK(many >= flows);
  CHECK(many < flows * 11 / 10);
}
