#include "tests/models/engines/two_tiers.hpp"

#include <doctest/doctest.h>

#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"

namespace athanor::testing {

using namespace athanor::literals;

Cluster two_tiers(std::uint32_t hosts_per_leaf) {
  ClosSpec spec;
  spec.tiers = 2;
  spec.radix = 2 * hosts_per_leaf;
  spec.host_cable = spec.up_cable = spec.core_cable = {10_GBps, 10_GBps, 1_us, Time::zero()};
  return fat_tree(hosts(2 * hosts_per_leaf * hosts_per_leaf), spec, {.routing = Routing::ecmp});
}

std::vector<VertexId> hosts_of(const Cluster& cluster, const std::vector<std::uint32_t>& leaves, std::uint32_t from,
                               std::uint32_t of_each) {
  std::vector<VertexId> hosts;
  for (const std::uint32_t leaf : leaves) {
    for (std::uint32_t host = from; host < from + of_each; ++host) {
      hosts.push_back(cluster.endpoints.at(leaf * kHostsPerLeaf + host));
    }
  }
  return hosts;
}

VertexId device(const Cluster& cluster, const std::string& name) {
  for (VertexId v{0}; v.value < cluster.fabric->vertices(); ++v.value) {
    if (cluster.fabric->name(v) == name) { return v; }
  }
  FAIL("no device is called " << name);
  return {};
}

}  // namespace athanor::testing
