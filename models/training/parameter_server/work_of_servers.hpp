#pragma once

#include "models/network/work_count.hpp"
#include "models/training/parameter_server/parameter_server.hpp"

namespace athanor {

/// What simulate_parameter_server() has to do. Throws SimulationError("no-route").
WorkCount work_of(const ParameterServerSetup& setup, const Cluster& cluster, const NetworkOptions& options);

}  // namespace athanor
