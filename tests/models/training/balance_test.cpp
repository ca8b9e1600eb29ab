// Layers and micro-batches divided by speed.
#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include <doctest/doctest.h>

#include "models/training/balance/split.hpp"
#include "sim/random.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// Every way to divide `whole` into `parts` of at least one.
void for_each_split(std::uint32_t whole, std::size_t parts, std::vector<std::uint32_t>& split,
                    const std::function<void()>& see) {
  if (split.size() + 1 == parts) {
    split.push_back(whole);
    see();
    split.pop_back();
    return;
  }
  for (std::uint32_t own = 1; own + (parts - split.size() - 1) <= whole; ++own) {
    split.push_back(own);
    for_each_split(whole - own, parts, split, see);
    split.pop_back();
  }
}

/// The slowest stage and the sum of all.
std::tuple<Time, Time> cost_of(const std::vector<std::uint32_t>& split, const StageCost& cost) {
  Time slowest;
  Time sum;
  std::uint32_t first = 0;
  for (std::uint32_t stage = 0; stage < split.size(); ++stage) {
    const Time own = cost(stage, first, split[stage]);
    slowest = std::max(slowest, own);
    sum += own;
    first += split[stage];
  }
  return {slowest, sum};
}

}  // namespace

TEST_CASE("layers are divided as speeds are, where that comes out even") {
  const std::vector<std::int64_t> layer_time{1, 3, 2};  // speeds 6, 2 and 3
  const StageCost cost = [&](std::uint32_t stage, std::uint32_t, std::uint32_t count) {
    return 1_us * layer_time[stage] * count;
  };
  for (const std::uint32_t times : {1U, 2U, 10U}) {
    const std::vector<std::uint32_t> most(3, 11 * times);
    CHECK(balanced_layers(11 * times, most, cost) == std::vector<std::uint32_t>{6 * times, 2 * times, 3 * times});
  }
}

TEST_CASE("no split of layers is better than the one that is found") {
  RandomStream random(7, "splits");
  for (int round = 0; round < 200; ++round) {
    const auto stages = static_cast<std::uint32_t>(1 + random.below(4));
    const auto layers = static_cast<std::uint32_t>(stages + random.below(8));
    std::vector<std::int64_t> of_layer(layers);
    for (std::int64_t& each : of_layer) { each = static_cast<std::int64_t>(random.below(5)); }
    std::vector<std::int64_t> slowness(stages);
    for (std::int64_t& each : slowness) { each = static_cast<std::int64_t>(1 + random.below(4)); }
    const StageCost cost = [&](std::uint32_t stage, std::uint32_t first, std::uint32_t count) {
      const auto begin = of_layer.begin() + first;
      return 1_us * (slowness[stage] * std::accumulate(begin, begin + count, stage == 0 ? 2 : std::int64_t{0}));
    };
    std::vector<std::uint32_t> most(stages);
    for (std::uint32_t& each : most) { each = static_cast<std::uint32_t>(1 + random.below(layers)); }
    std::tuple<Time, Time> best{Time::max(), Time::max()};
    std::vector<std::uint32_t> split;
    for_each_split(layers, stages, split, [&] {
      const bool fits = std::equal(split.begin(), split.end(), most.begin(), std::less_equal<>());
      if (fits) { best = std::min(best, cost_of(split, cost)); }
    });
    const std::vector<std::uint32_t> found = balanced_layers(layers, most, cost);
    REQUIRE(found.empty() == (std::get<0>(best) == Time::max()));
    if (!found.empty()) { CHECK(cost_of(found, cost) == best); }
  }
}

TEST_CASE("no split of a batch is better than the one that is found") {
  RandomStream random(11, "splits");
  for (int round = 0; round < 200; ++round) {
    const auto copies = static_cast<std::uint32_t>(1 + random.below(4));
    const auto batch = static_cast<std::uint32_t>(copies + random.below(9));
    std::vector<CopyPace> paces(copies);
    for (CopyPace& each : paces) {
      each.pace = 1_us * static_cast<std::int64_t>(1 + random.below(5));
      each.fill = each.pace + 1_us * static_cast<std::int64_t>(random.below(9));
    }
    const auto slowest = [&](const std::vector<std::uint32_t>& split) {
      Time most;
      for (std::size_t i = 0; i < copies; ++i) {
        most = std::max(most, paces[i].fill + paces[i].pace * (split[i] - 1));
      }
      return most;
    };
    Time best = Time::max();
    std::vector<std::uint32_t> split;
    for_each_split(batch, copies, split, [&] { best = std::min(best, slowest(split)); });
    const std::vector<std::uint32_t> found = balanced_batch(batch, paces);
    CHECK(std::accumulate(found.begin(), found.end(), 0U) == batch);
    CHECK(slowest(found) == best);
  }
}

TEST_CASE("a batch is divided as speeds are, where that comes out even") {
  const std::vector<CopyPace> paces{{1_us, 1_us}, {4_us, 4_us}, {2_us, 2_us}};
  for (const std::uint32_t times : {1U, 3U, 100U}) {
    CHECK(balanced_batch(7 * times, paces) == std::vector<std::uint32_t>{4 * times, times, 2 * times});
  }
}
