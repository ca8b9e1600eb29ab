#pragma once

#include <doctest/doctest.h>

#include "tests/models/small_clusters.hpp"
#include "topologies/generators/overrides.hpp"

namespace athanor::testing {

/// A square fat tree in which one cable of a leaf is slower and longer, and one host is farther: no two leaves and not
/// all hosts are alike. Requires seven hosts.
inline Cluster uneven_tree(std::uint32_t leaves) {
  using namespace athanor::literals;
  Cluster cluster = square_fat_tree(leaves, 3_GBps, 400_ns);
  Problems problems;
  apply_overrides(cluster,
                  {{.from = "leaf1", .to = "spine0", .rate = 1_GBps, .latency = 2_us},
                   {.from = "host6", .to = "leaf*", .latency = 5_us}},
                  problems);
  REQUIRE(problems.empty());
  return cluster;
}

}  // namespace athanor::testing
