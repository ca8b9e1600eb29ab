#include "models/jobs/inventory.hpp"

#include <random>
#include <set>

#include <doctest/doctest.h>

#include "models/jobs/usage.hpp"
#include "sim/error.hpp"
#include "small_jobs.hpp"

using namespace athanor;

TEST_CASE("the lowest node of a set is found as in a sorted set") {
  std::mt19937_64 random(2);
  constexpr std::uint32_t kNodes = 10'000;
  NodeSet set(kNodes);
  std::set<std::uint32_t> naive;
  for (int i = 0; i < 20'000; ++i) {
    const auto node = static_cast<std::uint32_t>(random() % kNodes);
    if (random() % 2 == 0) {
      set.add(NodeId{node});
      naive.insert(node);
    } else {
      set.remove(NodeId{node});
      naive.erase(node);
    }
    const auto from = static_cast<std::uint32_t>(random() % (kNodes + 100));
    const auto expected = naive.lower_bound(from);
    const auto found = set.next(NodeId{from});
    REQUIRE(found.has_value() == (expected != naive.end()));
    if (found) { REQUIRE(found->value == *expected); }
  }
}

TEST_CASE("what is taken and given back leaves everything free") {
  std::mt19937_64 random(4);
  for (const char* policy : {"best_fit", "first_fit", "consolidate", "spread"}) {
    CAPTURE(policy);
    NodeList nodes = equal_nodes(20, 8);
    for (Node& node : nodes.nodes) { node.cpu_milli = 64'000; }
    JobList jobs;
    const std::vector<Shape> shapes = {{{1, {.gpus = 1}}},
                                       {{3, {.gpus = 4, .cpu_milli = 8'000}}},
                                       {{5, {.gpu_milli = 300}}},
                                       {{1, {.cpu_milli = 2'000}}, {2, {.gpus = 8}}}};
    Inventory inventory(nodes, jobs);
    const auto placement = placement_of(policy, jobs, nodes);
    std::vector<std::pair<Allocation, Shape>> taken;
    for (int i = 0; i < 2'000; ++i) {
      if (random() % 2 == 0) {
        const Shape& shape = shapes[random() % shapes.size()];
        const std::uint32_t free = inventory.free_gpus();
        if (auto where = placement->place(shape, inventory)) {
          std::uint32_t tasks = 0;
          for (const NodeShare& share : *where) { tasks += share.tasks; }
          std::uint32_t wanted = 0;
          for (const TaskGroup& group : shape) { wanted += group.tasks; }
          CHECK(tasks == wanted);
          taken.emplace_back(std::move(*where), shape);
        } else {
          CHECK(inventory.free_gpus() == free);
        }
      } else if (!taken.empty()) {
        inventory.give_back(taken.back().first, taken.back().second);
        taken.pop_back();
      }
    }
    for (const auto& [where, shape] : taken) { inventory.give_back(where, shape); }
    CHECK(inventory.free_gpus() == 160);
    for (const NodeId node : nodes.nodes.ids()) {
      CHECK(inventory.free_gpus(node) == GpuSet::first(8));
      CHECK(inventory.free_cpu_milli(node) == 64'000);
      CHECK(inventory.tasks(node) == 0);
    }
  }
}

TEST_CASE("a closed node gets no tasks, and keeps those that it has") {
  const NodeList nodes = equal_nodes(2, 4);
  const JobList jobs;
  Inventory inventory(nodes, jobs);
  const Demand one{.gpus = 1};
  const NodeShare share = inventory.share(NodeId{0}, 0, one, 2);
  inventory.take(share, one);
  inventory.close(NodeId{0});
  CHECK(inventory.room(NodeId{0}, one) == 0);
  CHECK(inventory.free_gpus() == 4);
  inventory.give_back(share, one);
  CHECK(inventory.free_gpus() == 4);
  inventory.open(NodeId{0});
  CHECK(inventory.free_gpus() == 8);
  CHECK(inventory.room(NodeId{0}, one) == 4);
}

TEST_CASE("usage adds up to the same whatever its spans have become") {
  Usage usage;
  usage.set(wall_seconds(0), {2, 1, 0});
  usage.set(wall_seconds(10), {4, 2, 1});
  usage.set(wall_seconds(100'000), {0, 0, 3});
  usage.end(wall_seconds(100'010));
  CHECK(usage.sums().gpus == doctest::Approx(2 * 10 + 4 * 99'990));
  CHECK(usage.sums().waiting == doctest::Approx(99'990 + 3 * 10));
  CHECK(usage.peak().gpus == 4);
  double sum = 0;
  const std::vector<Usage::Level> averages = usage.averages();
  for (std::size_t i = 0; i < averages.size(); ++i) {
    const WallTime begin = usage.width() * static_cast<std::int64_t>(i);
    sum += averages[i].gpus * seconds(std::min(usage.width(), usage.ended() - begin));
  }
  CHECK(sum == doctest::Approx(usage.sums().gpus));
  CHECK(averages.size() <= 2048);
}
