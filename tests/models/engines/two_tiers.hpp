#pragma once

#include <string>
#include <vector>

#include "topologies/cluster.hpp"

namespace athanor::testing {

constexpr std::uint32_t kLeaves = 8;
constexpr std::uint32_t kHostsPerLeaf = 4;
constexpr std::uint32_t kSpines = 4;

/// Leaves of so many hosts each, twice as many, below as many spines, all cables alike: 10 GB/s and 1 us.
Cluster two_tiers(std::uint32_t hosts_per_leaf = kHostsPerLeaf);
/// The hosts of some leaves, leaf after leaf: the first `of_each` from number `from` on.
std::vector<VertexId> hosts_of(const Cluster& cluster, const std::vector<std::uint32_t>& leaves, std::uint32_t from = 0,
                               std::uint32_t of_each = kHostsPerLeaf);
VertexId device(const Cluster& cluster, const std::string& name);

}  // namespace athanor::testing
