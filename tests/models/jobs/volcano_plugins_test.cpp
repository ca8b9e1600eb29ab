#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/schedulers/volcano/node_scores.hpp"
#include "models/jobs/schedulers/volcano/queues.hpp"
#include "models/jobs/schedulers/volcano/water_filling.hpp"
#include "sim/random.hpp"

using namespace athanor;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr AmountParts kNoLimit = {kInfinite, kInfinite, kInfinite};

AmountParts gpus(double count) { return {0, 0, 1000 * count}; }

/// A claim of GPUs alone.
QueueClaim claim(double weight, double request, double capability = kInfinite, double guarantee = 0) {
  return {weight, gpus(request), {kInfinite, kInfinite, 1000 * capability}, gpus(guarantee)};
}

std::vector<double> deserved(double total, const std::vector<QueueClaim>& claims) {
  std::vector<double> found;
  for (const AmountParts& parts : water_filling(gpus(total), claims)) { found.push_back(parts[Amounts::gpu] / 1000); }
  return found;
}

/// The level at which all queues together take what there is: each its weight times the level, up to what it can use.
std::vector<double> by_level(double total, const std::vector<double>& weights, const std::vector<double>& most) {
  double low = 0;
  double high = 1e9;
  std::vector<double> found(weights.size());
  for (int step = 0; step < 200; ++step) {
    const double level = (low + high) / 2;
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      found[i] = std::min(weights[i] * level, most[i]);
      sum += found[i];
    }
    (sum > total ? high : low) = level;
  }
  return found;
}

NodeList node_of(std::uint32_t cpu_milli, std::uint32_t memory_mib, std::uint16_t gpu_count) {
  NodeList list;
  list.gpu_types = {"GPU"};
  list.nodes.push_back({.gpus = gpu_count, .cpu_milli = cpu_milli, .memory_mib = memory_mib});
  return list;
}

}  // namespace

TEST_CASE("queues share by weight, and what one does not request goes to the others by theirs") {
  CHECK(deserved(60, {claim(1, 100), claim(2, 100), claim(3, 100)}) == std::vector<double>{10, 20, 30});
  CHECK(deserved(60, {claim(1, 100), claim(1, 100), claim(1, 6)}) == std::vector<double>{27, 27, 6});
  CHECK(deserved(60, {claim(1, 10), claim(1, 20)}) == std::vector<double>{10, 20});
  CHECK(deserved(0, {claim(1, 10)}) == std::vector<double>{0});
  CHECK(deserved(10, {}).empty());
}

TEST_CASE("a queue has at most its capability, and at least its guarantee, which the others leave to it") {
  CHECK(deserved(60, {claim(1, 100, 12), claim(1, 100)}) == std::vector<double>{12, 48});
  CHECK(deserved(60, {claim(1, 100, kInfinite, 50), claim(4, 100)}) == std::vector<double>{50, 10});
  CHECK(deserved(60, {claim(1, 0, kInfinite, 50), claim(4, 100)}) == std::vector<double>{50, 10});
}

TEST_CASE("each kind of resource is shared for itself") {
  const QueueClaim cores{1, {8, 0, 0}, kNoLimit, {}};
  const QueueClaim both{1, {8, 0, 8}, kNoLimit, {}};
  const auto found = water_filling({8, 0, 8}, {cores, both});
  CHECK(found[0] == AmountParts{4, 0, 0});
  CHECK(found[1][Amounts::cpu] == 4);
  CHECK(found[1][Amounts::gpu] == doctest::Approx(8).epsilon(0.02));
  CHECK(water_filling({kInfinite, 0, 0}, {cores, both})[1][Amounts::cpu] == 8);
}

TEST_CASE("random queues get what a common water level gives, whatever their weights, requests and capabilities") {
  RandomStream random(1, "queues");
  for (int round = 0; round < 500; ++round) {
    std::vector<QueueClaim> claims;
    std::vector<double> weights;
    std::vector<double> most;
    const auto count = 1 + random.below(7);
    double wanted = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto weight = static_cast<double>(1 + random.below(9));
      const auto request = static_cast<double>(random.below(200));
      const double capability = random.below(2) == 0 ? kInfinite : static_cast<double>(random.below(100));
      claims.push_back(claim(weight, request, capability));
      weights.push_back(weight);
      most.push_back(std::min(request, capability));
      wanted += most.back();
    }
    const auto total = static_cast<double>(random.below(400));
    const std::vector<double> expected = by_level(std::min(total, wanted), weights, most);
    const std::vector<double> found = deserved(total, claims);
    for (std::size_t i = 0; i < count; ++i) { CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-3)); }
  }
}

TEST_CASE("binpack: the weighted mean of what is used of what the task asks for, and 0 where it does not fit") {
  const JobList jobs;
  const NodeList nodes = node_of(10'000, 1000, 8);
  Inventory inventory(nodes, jobs);
  const NodeId node{0};
  const Demand taken{.gpus = 2, .cpu_milli = 1000, .memory_mib = 100};
  inventory.take(inventory.share(node, 0, taken, 1), taken);
  const Demand asks{.gpus = 2, .cpu_milli = 4000, .memory_mib = 300};
  CHECK(binpack_score(asks, node, inventory, {}) == doctest::Approx(100 * (0.5 + 0.4) / 2));
  CHECK(binpack_score(asks, node, inventory, {.gpus = 2}) == doctest::Approx(100 * (0.5 + 0.4 + 2 * 0.5) / 4));
  CHECK(binpack_score(asks, node, inventory, {.weight = 10, .cpu = 3}) ==
        doctest::Approx(10 * 100 * (3 * 0.5 + 0.4) / 4));
  CHECK(binpack_score({.gpus = 2}, node, inventory, {}) == 0);  // GPUs count only where they are named
  CHECK(binpack_score({.cpu_milli = 9500}, node, inventory, {}) == 0);
}

TEST_CASE("nodeorder: whole numbers of Kubernetes, of cores and memory; a balance of those and GPUs") {
  const JobList jobs;
  const NodeList nodes = node_of(10'000, 1000, 8);
  const Inventory inventory(nodes, jobs);
  const Demand asks{.gpus = 4, .cpu_milli = 2550, .memory_mib = 250};
  const NodeId node{0};
  CHECK(nodeorder_score(asks, node, inventory, {1, 0, 0}) == (74 + 75) / 2);
  CHECK(nodeorder_score(asks, node, inventory, {0, 1, 0}) == (25 + 25) / 2);
  const double mean = (0.255 + 0.25 + 0.5) / 3;
  const double deviation =
      std::sqrt((std::pow(0.255 - mean, 2) + std::pow(0.25 - mean, 2) + std::pow(0.5 - mean, 2)) / 3);
  CHECK(nodeorder_score(asks, node, inventory, {0, 0, 1}) == std::floor((1 - deviation) * 100));
  CHECK(nodeorder_score({.cpu_milli = 2000, .memory_mib = 600}, node, inventory, {0, 0, 1}) ==
        80);  // no GPUs asked for
  CHECK(nodeorder_score(asks, node, inventory, {2, 3, 0}) == 2 * 74 + 3 * 25);
}

TEST_CASE("a dominant share is that of the scarcest of what a job has") {
  CHECK(dominant_share(Amounts{{1000, 50, 4000}}, Amounts{{10'000, 1000, 8000}}) == 0.5);
  CHECK(dominant_share(Amounts{{6000, 50, 4000}}, Amounts{{10'000, 1000, 8000}}) == 0.6);
  CHECK(dominant_share(Amounts{{6000, 0, 0}}, Amounts{{Amounts::kUnlimited, 1000, 8000}}) == 0);
}
