#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// Koordinator's table of a board with eight GPUs.
constexpr std::array<std::array<std::uint32_t, 2>, 7> kGroups{{{0, 2}, {2, 2}, {4, 2}, {6, 2}, {0, 4}, {4, 4}, {0, 8}}};

bool is_free(GpuSet free, std::uint32_t first, std::uint32_t size) {
  for (std::uint32_t gpu = first; gpu < first + size; ++gpu) {
    if (!free.has(gpu)) { return false; }
  }
  return true;
}

int worth(GpuSet free) {
  int sum = 0;
  for (const auto& [first, size] : kGroups) {
    const int each = size == 8 ? 10000 : size == 4 ? 100 : 1;
    sum += is_free(free, first, size) ? each : 0;
  }
  return sum;
}

struct Running {
  Shape shape;
  Allocation where;
};

}  // namespace

TEST_CASE("gpu_partitions: a task gets a group of the table, and no other group anywhere leaves more large ones free") {
  std::mt19937_64 random(21);
  const JobList jobs;
  const NodeList nodes = equal_nodes(2, 8);
  int refused = 0;
  int placed = 0;
  for (int round = 0; round < 100; ++round) {
    Inventory inventory(nodes, jobs);
    const auto policy = placement_of("gpu_partitions", jobs, nodes);
    std::vector<Running> running;
    for (int step = 0; step < 40; ++step) {
      if (!running.empty() && random() % 3 == 0) {
        std::swap(running[random() % running.size()], running.back());
        inventory.give_back(running.back().where, running.back().shape);
        running.pop_back();
        continue;
      }
      const auto size = static_cast<std::uint16_t>(1U << random() % 4);
      int best = -1;
      const std::array<GpuSet, 2> free{inventory.free_gpus(NodeId{0}), inventory.free_gpus(NodeId{1})};
      for (std::size_t node = 0; node < 2; ++node) {
        for (std::uint32_t first = 0; first < 8; first += size) {
          if (!is_free(free[node], first, size)) { continue; }
          const GpuSet group = GpuSet::first(first + size) - GpuSet::first(first);
          best = std::max(best, worth(free[node] - group) + worth(free[1 - node]));
        }
      }
      const Shape shape{{1, {.gpus = size}}};
      const auto where = policy->place(shape, inventory);
      REQUIRE(where.has_value() == (best >= 0));
      if (!where) {
        ++refused;
        continue;
      }
      ++placed;
      const GpuSet got = (*where)[0].gpus;
      CHECK(got.count() == size);
      CHECK(got.least() % size == 0);
      CHECK(is_free(got, got.least(), size));
      CHECK(worth(inventory.free_gpus(NodeId{0})) + worth(inventory.free_gpus(NodeId{1})) == best);
      running.push_back({shape, *where});
    }
  }
  CHECK(refused > 100);
  CHECK(placed > 1000);
}

TEST_CASE("gpu_partitions: two GPUs that are no pair are enough for best effort alone") {
  const JobList jobs;
  const NodeList nodes = equal_nodes(1, 4);
  for (const bool restricted : {true, false}) {
    Inventory inventory(nodes, jobs);
    for (const std::uint32_t gpu : {0U, 2U}) {
      NodeShare share{NodeId{0}, 0, 1, {}};
      share.gpus.add(gpu);
      inventory.take(share, {.gpus = 1});
    }
    const auto policy = placement_of("gpu_partitions", jobs, nodes, restricted ? "{}" : R"({"policy": "best_effort"})");
    CHECK(policy->place({{1, {.gpus = 2}}}, inventory).has_value() == !restricted);
  }
}
