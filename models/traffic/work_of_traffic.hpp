#pragma once

#include "models/network/network_settings.hpp"
#include "models/network/work_count.hpp"
#include "models/traffic/traffic_matrix.hpp"

namespace athanor {

struct Cluster;

/// What simulate_traffic() has to do. Looks at the routes of some connections. Throws SimulationError("no-route").
WorkCount work_of(const TrafficMatrix& matrix, const Cluster& cluster, std::uint64_t seed,
                  const NetworkOptions& options);

}  // namespace athanor
