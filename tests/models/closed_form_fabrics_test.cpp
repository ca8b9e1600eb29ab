#include <bit>
#include <cmath>
#include <numeric>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "sim/words.hpp"
#include "tests/models/law_conditions.hpp"
#include "tests/models/small_clusters.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

using enum CollectiveKind;

Cluster torus_of(std::uint32_t sides, std::uint32_t side) {
  const CableSpec cable{kRate, kRate, kAlpha, Time::zero()};
  const auto positions = static_cast<std::uint32_t>(std::lround(std::pow(side, sides)));
  const std::string keys =
      fmt::format(R"("kind": "torus", "dimensions": [{}])", joined(std::vector<std::uint32_t>(sides, side), ", "));
  return cluster_on(keys, hosts(positions), {}, cable, cable);
}

Layout cubic(std::uint32_t sides, std::uint32_t side) {
  GridShape grid;
  for (std::uint32_t dimension = 0; dimension < sides; ++dimension) { grid.dimensions.at(dimension) = side; }
  return {.shape = grid};
}

/// On a torus of equal sides: messages one after the other, and what one port carries and one lane adds, in parts of
/// the payload.
struct TorusLaw {
  CollectiveKind kind;
  std::string_view name;
  std::uint32_t sides;
  /// Of the ranks P, the side X and n elements.
  Cost (*terms)(std::int64_t p, std::int64_t x, std::int64_t n);
};

/// 2D copies, each with its port.
Cost copies(std::int64_t dimensions, std::int64_t p, std::int64_t x, std::int64_t n) {
  return {static_cast<std::uint32_t>(2 * dimensions * (x - 1)), Elements{(n - n / p) / dimensions},
          Elements{(n - n / p) / (2 * dimensions)}};
}

/// A reduce-scatter is the first half of an all-reduce, an all-gather the second.
Cost half_copies(std::int64_t dimensions, std::int64_t p, std::int64_t x, std::int64_t n) {
  const Cost both = copies(dimensions, p, x, n);
  return {both.steps / 2, both.sent / 2, both.reduced};
}

Cost moving_only(Cost cost) { return {cost.steps, cost.sent, Elements{0}}; }

constexpr TorusLaw kTorusLaws[] = {
    {all_reduce, "bidirectional_ring", 1, [](auto p, auto x, auto n) { return copies(1, p, x, n); }},
    {all_reduce, "torus", 1, [](auto p, auto x, auto n) { return copies(1, p, x, n); }},
    {all_reduce, "torus_2d", 2, [](auto p, auto x, auto n) { return copies(2, p, x, n); }},
    {all_reduce, "torus", 2, [](auto p, auto x, auto n) { return copies(2, p, x, n); }},
    {all_reduce, "torus_3d", 3, [](auto p, auto x, auto n) { return copies(3, p, x, n); }},
    {all_reduce, "torus", 4, [](auto p, auto x, auto n) { return copies(4, p, x, n); }},
    {reduce_scatter, "torus", 1, [](auto p, auto x, auto n) { return half_copies(1, p, x, n); }},
    {reduce_scatter, "torus", 2, [](auto p, auto x, auto n) { return half_copies(2, p, x, n); }},
    {all_gather, "torus", 1, [](auto p, auto x, auto n) { return moving_only(half_copies(1, p, x, n)); }},
    {all_gather, "torus", 2, [](auto p, auto x, auto n) { return moving_only(half_copies(2, p, x, n)); }},
    // Two Hamiltonian cycles, both ways.
    {all_reduce, "multi_ring", 2,
     [](auto p, auto, auto n) {
       return Cost{static_cast<std::uint32_t>(2 * (p - 1)), Elements{2 * (n - n / p) / 4}, Elements{(n - n / p) / 4}};
     }},
    // Two copies; from 7 x 7 on this is for large payloads only. Both ends of a chain send to its middle at once; the
    // ranks there handle several pieces per message.
    {all_reduce, "mesh_2d", 2,
     [](auto p, auto x, auto n) {
       return Cost{static_cast<std::uint32_t>(4 * (x - 1)), Elements{n + ((x - 1) / 2 - 3) * n / (2 * p)},
                   Elements{(x + 1) * n / (2 * x)}};
     }},
};

NodeSpec node_of(std::uint32_t gpus, Bandwidth inside, Time hop) {
  NodeSpec spec;
  spec.name = "GPUs on an NVSwitch, each with a NIC";
  spec.gpus = gpus;
  spec.nics = gpus;
  spec.scale_up = NvSwitchSpec{{inside, inside, hop}};
  spec.pcie_link = {100_GBps, 100_GBps, 100_ns};
  spec.nic.rate = kRate;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) { spec.pcie.push_back({0, true, {gpu}, {gpu}}); }
  return spec;
}

Cluster rails(std::uint32_t nodes_count, const NodeSpec& spec) {
  ClosSpec network;
  network.hosts_per_leaf = nodes_count;
  network.host_cable = {kRate, kRate, 300_ns, Time::zero()};
  network.up_cable = network.host_cable;
  return rail_optimized(nodes(nodes_count, spec), network);
}

/// Latency of the way from one endpoint to another.
Time latency_between(const Cluster& cluster, std::uint32_t from, std::uint32_t to) {
  std::vector<LinkId> path;
  cluster.router->route({.from = cluster.endpoints[from], .to = cluster.endpoints[to]}, path);
  Time latency;
  for (const LinkId link : path) { latency += cluster.fabric->link(link).latency; }
  return latency;
}

Time step(Time latency, std::int64_t elements, Bandwidth rate) {
  return latency + transfer_time(Bytes{4 * elements}, rate);
}

Time adding(std::int64_t elements) { return transfer_time(Bytes{4 * elements}, kReduceRate); }

}  // namespace

TEST_CASE("on a torus of equal sides the multi-port algorithms use every port all the time") {
  for (const TorusLaw& law : kTorusLaws) {
    for (std::uint32_t side = 3; side <= (law.sides < 3 ? 6U : 4U); ++side) {
      const Cluster cluster = torus_of(law.sides, side);
      const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
      for (const std::int64_t each : {0, 1, 500}) {
        const std::int64_t n = each * ranks * side * 24;
        CAPTURE(std::string(law.name));
        CAPTURE(ranks);
        CAPTURE(n);
        const Time time =
            simulated(find(law.kind, law.name), even_collective(law.kind, ranks, n), cubic(law.sides, side), cluster);
        CHECK(time == closed_form(law.terms(ranks, side, n)));
      }
    }
  }
}

TEST_CASE("hierarchical all-reduce takes a ring's steps inside and a ring's steps across, each at its own pace") {
  const Bandwidth inside = 80_GBps;
  for (const std::uint32_t g : {2U, 4U, 8U}) {
    for (const std::uint32_t count : {2U, 3U, 5U}) {
      const Cluster cluster = rails(count, node_of(g, inside, 200_ns));
      const std::int64_t p = g * count;
      Layout layout;
      layout.group = g;
      for (const std::int64_t n : {std::int64_t{0}, 20 * p, 20'000 * p}) {
        CAPTURE(g);
        CAPTURE(count);
        CAPTURE(n);
        const Time in = step(latency_between(cluster, 0, 1), n / g, inside);
        const Time across = step(latency_between(cluster, 0, g), n / p, kRate);
        const Time expected = in * (2 * (g - 1)) + across * (2 * (count - 1)) + adding(n - n / p);
        const auto ranks = static_cast<std::uint32_t>(p);
        CHECK(simulated(find(all_reduce, "hierarchical"), even_collective(all_reduce, ranks, n), layout, cluster) ==
              expected);
        const Time exchanged = step(latency_between(cluster, 0, 1), n / g, inside) * (g - 1) +
                               step(latency_between(cluster, 0, g), n / count, kRate) * (count - 1);
        CHECK(simulated(find(all_to_all, "hierarchical"), even_collective(all_to_all, ranks, n), layout, cluster) ==
              exchanged);
      }
    }
  }
}

TEST_CASE("NVLS in one chunk takes four hops, and the payload and two pieces up and down the links") {
  const Algorithm& nvls = find(all_reduce, "nvls");
  for (const std::uint32_t ranks : {2U, 4U, 5U, 8U}) {
    const Cluster cluster = single_node(node_of(ranks, kRate, kAlpha));
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{ranks} * 20, std::int64_t{ranks} * 200'000}) {
      CAPTURE(ranks);
      CAPTURE(n);
      const Time time = simulated(nvls, even_collective(all_reduce, ranks, n), {}, cluster);
      CHECK(time == closed_form({4, Elements{2 * (n + n / ranks)}, Elements{0}}));
    }
  }
}

TEST_CASE("NVLS reduce-scatter and all-gather in one chunk take two hops, and the payload and a block on a link") {
  for (const CollectiveKind kind : {reduce_scatter, all_gather}) {
    for (const std::uint32_t ranks : {2U, 4U, 5U, 8U}) {
      const Cluster cluster = single_node(node_of(ranks, kRate, kAlpha));
      for (const std::int64_t n : {std::int64_t{0}, std::int64_t{ranks} * 20, std::int64_t{ranks} * 200'000}) {
        CAPTURE(ranks);
        CAPTURE(n);
        const Time time = simulated(find(kind, "nvls"), even_collective(kind, ranks, n), {}, cluster);
        CHECK(time == closed_form({2, Elements{n + n / ranks}, Elements{0}}));
      }
    }
  }
}

TEST_CASE("k chunks follow each other: a chain of s steps takes s + k - 1 steps of a k-th of the payload") {
  for (std::uint32_t ranks = 2; ranks <= 16; ranks += ranks < 8 ? 1 : 4) {
    const Cluster cluster = star(ranks, kRate, kAlpha / 2);
    for (const std::int64_t chunks : {1, 2, 5, 32}) {
      const std::int64_t each = 1000;
      Layout layout;
      layout.chunk = Elements{each};
      CAPTURE(ranks);
      CAPTURE(chunks);
      const Time hop = step(kAlpha, each, kRate);
      const auto steps = static_cast<std::int64_t>(ranks) - 2 + chunks;
      CHECK(simulated(find(broadcast, "ring"), even_collective(broadcast, ranks, each * chunks), layout, cluster) ==
            hop * steps);
      // Of two ranks one only sends, while the other adds.
      const Time chained = ranks == 2 ? hop * chunks + adding(each) : (hop + adding(each)) * steps;
      CHECK(simulated(find(reduce, "ring"), even_collective(reduce, ranks, each * chunks), layout, cluster) == chained);
      if (!std::has_single_bit(ranks)) { continue; }
      // Each stage of the butterfly has a port of its own.
      const auto stages = static_cast<std::int64_t>(std::countr_zero(ranks));
      CHECK(simulated(find(all_reduce, "butterfly"), even_collective(all_reduce, ranks, each * chunks), layout, cluster,
                      NetworkLevel::ideal) == (hop + adding(each)) * (stages + chunks - 1));
    }
  }
}

TEST_CASE("reduce-scatter by recursive halving takes at most 3/2 n (beta + gamma) more where ranks pair up") {
  const Algorithm& halving = find(reduce_scatter, "recursive_halving");
  for (std::uint32_t ranks = 3; ranks <= 65; ++ranks) {
    if (std::has_single_bit(ranks)) { continue; }
    CAPTURE(ranks);
    const std::int64_t n = 1000 * std::int64_t{ranks};
    const std::uint32_t steps = static_cast<std::uint32_t>(std::bit_width(ranks)) - 1 + 2;
    const Collective collective = even_collective(reduce_scatter, ranks, n);
    const Time time = simulated(halving, collective, {}, star(ranks, kRate, kAlpha / 2), NetworkLevel::ideal);
    CHECK(time > closed_form({steps, Elements{n}, Elements{n}}));
    CHECK(time <= closed_form({steps, Elements{5 * n / 2}, Elements{5 * n / 2}}));
    CHECK(halving.cost(collective).reduced <= Elements{5 * n / 2});
  }
}
