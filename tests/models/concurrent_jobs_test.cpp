#include <algorithm>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/schedule/concurrent.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/pricing.hpp"
#include "models/execution/simulate.hpp"
#include "tests/models/small_clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

using Ranks = std::vector<std::uint32_t>;

/// Rings, each over ranks of its own with so many elements for each.
struct Rings {
  std::vector<ConcurrentPart> parts;
  std::vector<JobStart> starts;

  void add(const Ranks& ranks, std::int64_t elements_each, JobStart start = {}, std::int64_t chunk = 100) {
    const auto count = static_cast<std::uint32_t>(ranks.size());
    const Collective collective{CollectiveKind::all_reduce, count, Elements{elements_each * count}};
    const Layout layout{1, Elements{chunk}, 1, Elements{1}};
    parts.push_back({find(CollectiveKind::all_reduce, "ring").make(collective, layout), ranks});
    starts.push_back(start);
  }
  /// The same job once more, on other ranks and later: its lanes may be one class with those of the last one.
  void add_again(const Ranks& ranks, JobStart start = {}) {
    parts.push_back({parts.back().schedule, ranks});
    starts.push_back(start);
  }
  Simulated run(const Cluster& cluster, SimulationOptions options = {}, const CostModel& costs = UniformCosts{}) const {
    const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
    const auto schedule = concurrent(parts, ranks);
    const AgentMapping seats = agent_mapping(parts, ranks);
    options.jobs.starts = starts;
    for (AgentId agent{0}; agent.value < ranks; ++agent.value) {
      const auto role = seats.role(agent);
      options.jobs.of_agents.push_back(role ? role->part : 0);
    }
    return simulate(*schedule, cluster, {cluster.endpoints}, costs, options);
  }
};

Time alone(const Cluster& cluster, const Ranks& ranks, std::int64_t elements_each, std::int64_t chunk = 100) {
  Rings one;
  one.add(ranks, elements_each, {}, chunk);
  return one.run(cluster).time;
}

SimulationOptions at_level(NetworkLevel level) {
  SimulationOptions options;
  options.level = level;
  return options;
}

}  // namespace

TEST_CASE("jobs that share no link end as if each were alone, and those that are alike are one class") {
  const Cluster cluster = star(12, 5_GBps, 1_us);
  Rings jobs;
  jobs.add({0, 1, 2, 3}, 5000);
  jobs.add_again({7, 4, 5, 6});
  jobs.add({8, 9, 10}, 20'000, {}, 300);
  const Simulated all = jobs.run(cluster);
  REQUIRE(all.ends.size() == 3);
  CHECK(all.ends[0] == alone(cluster, {0, 1, 2, 3}, 5000));
  CHECK(all.ends[1] == all.ends[0]);
  CHECK(all.ends[2] == alone(cluster, {0, 1, 2}, 20'000, 300));
  CHECK(all.time == std::max(all.ends[0], all.ends[2]));
  CHECK(all.lanes == 2);
  CHECK(all.all_lanes == 11);
}

TEST_CASE("the end of each job is the same with classes and loops or without") {
  UniformCosts costs;
  costs.agent_cost = {300_ns, 200_GBps, 400_GBps, true};
  costs.connection_cost.latency = 200_ns;
  costs.slot_count = 3;
  const Cluster cluster = square_fat_tree(4, 3_GBps, 400_ns);
  Rings jobs;
  jobs.add({0, 4, 8, 12}, 3000, {}, 200);
  jobs.add_again({1, 5, 9, 13});
  jobs.add_again({2, 6, 10, 14}, {.begin = 5_us});
  jobs.add({3, 7, 11}, 9000);
  jobs.add_again({15}, {.begin = 1_us, .after = {0}});
  jobs.parts.back().schedule = find(CollectiveKind::all_reduce, "ring").make({.ranks = 1, .count = Elements{50}}, {});
  SimulationOptions whole;
  whole.classes = whole.repeat_loops = false;
  const std::vector<Time> expected = jobs.run(cluster, whole, costs).ends;
  for (const bool classes : {false, true}) {
    for (const bool loops : {false, true}) {
      SimulationOptions part;
      part.classes = classes;
      part.repeat_loops = loops;
      CHECK(jobs.run(cluster, part, costs).ends == expected);
    }
  }
}

// The law: one after the other, n times as long. At packet level a job begins while the last acknowledgements of the
// one before are under way, which take next to nothing.
TEST_CASE("jobs that wait for each other end after T, 2 T and 3 T, on the same links or others, at all levels") {
  for (const NetworkLevel level : {NetworkLevel::ideal, NetworkLevel::flow, NetworkLevel::packet}) {
    for (const Cluster& cluster : {star(12, 5_GBps, 1_us), square_fat_tree(4, 3_GBps, 2_us)}) {
      Rings first;
      first.add({0, 1, 2, 3}, 20'000, {}, 2000);
      const Time once = first.run(cluster, at_level(level)).time;
      Rings jobs = first;
      jobs.add_again({4, 5, 6, 7}, {.begin = {}, .after = {0}});
      jobs.add_again({8, 9, 10, 11}, {.begin = {}, .after = {1}});
      const std::vector<Time> ends = jobs.run(cluster, at_level(level)).ends;
      CAPTURE(name(level));
      CHECK(ends[0] == once);
      CHECK(ends[1] == once * 2);
      CHECK(ends[2] == once * 3);
    }
  }
}

TEST_CASE("a job begins at its own time, or when the job before it has ended, whichever is later") {
  const Cluster cluster = star(14, 5_GBps, 1_us);
  const Time once = alone(cluster, {0, 1, 2, 3}, 5000);
  Rings jobs;
  jobs.add({0, 1, 2, 3}, 5000, {.begin = 3_us});
  jobs.add_again({4, 5, 6, 7}, {.begin = 1_s, .after = {0}});
  const Simulated late = jobs.run(cluster);
  CHECK(late.ends[0] == 3_us + once);
  CHECK(late.ends[1] == 1_s + once);
  jobs.starts[1].begin = 4_us;
  CHECK(jobs.run(cluster).ends[1] == 3_us + once * 2);
  jobs.starts[0].begin = {};
  jobs.add({8, 9, 10}, 500);
  jobs.add_again({11, 12, 13}, {.begin = {}, .after = {0, 2}});
  const std::vector<Time> ends = jobs.run(cluster).ends;
  CHECK(ends[2] < ends[0]);
  CHECK(ends[3] == ends[0] + ends[2]);
}

TEST_CASE("each job has its own element size and slots") {
  const Cluster cluster = star(8, 5_GBps, 1_us);
  Rings jobs;
  jobs.add({0, 1, 2, 3}, 5000);
  jobs.add({4, 5, 6, 7}, 5000);
  UniformCosts wide;
  wide.element = Bytes{8};
  wide.slot_count = 2;
  const UniformCosts narrow;
  const AgentMapping seats = agent_mapping(jobs.parts, 8);
  const SideBySidePricing both(seats, {&narrow, &wide});
  const std::vector<Time> ends = jobs.run(cluster, {}, both).ends;
  CHECK(ends[0] == alone(cluster, {0, 1, 2, 3}, 5000));
  Rings one;
  one.add({0, 1, 2, 3}, 5000);
  CHECK(ends[1] == one.run(cluster, {}, wide).time);
  CHECK(ends[1] > ends[0]);
}
