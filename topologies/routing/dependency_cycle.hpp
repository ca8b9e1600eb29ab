#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topologies/fabric/fabric.hpp"

namespace athanor {

struct Cluster;

/// Whether routes may wait for each other in a circle: the channel dependency graph of Dally and Seitz ("Deadlock-free
/// message routing in multiprocessor interconnection networks", IEEE Trans. Computers 1987) has a vertex for each
/// network link and an edge from one to the next wherever a route takes both, one after the other. Where it has a
/// circle, full buffers on one virtual channel (PFC, credits) can stop all messages on it for ever.
struct DependencyCycle {
  std::vector<LinkId> links;  ///< of a circle, each waited for by the one before it; empty: there is none
  bool sampled = false;       ///< not all pairs of endpoints were looked at: there may be one all the same
};

/// Looks at the routes between all endpoints, of as many flows each as are asked for, and says one circle, the same
/// each time. O(endpoints^2 x flows); of more than `most_routes` routes only some are looked at. Requires flows > 0.
DependencyCycle dependency_cycle(const Cluster& cluster, std::uint32_t flows = 4,
                                 std::uint64_t most_routes = 1'000'000);

/// "deadlock-prone under PFC or credits on one virtual channel: a -> b waits for b -> c waits for ..."; "" where there
/// is no circle.
std::string deadlock_warning(const Fabric& fabric, const DependencyCycle& cycle);

}  // namespace athanor
