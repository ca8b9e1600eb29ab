#include "topologies/cluster.hpp"

namespace athanor {

Cluster with_seed(const Cluster& cluster, std::uint64_t seed) {
  Cluster other = cluster;
  other.router = cluster.router->with_seed(seed);
  return other;
}

}  // namespace athanor
