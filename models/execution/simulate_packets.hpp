#pragma once

#include "models/execution/simulate.hpp"

namespace athanor {

/// simulate() at packet level. Nothing is folded or multiplied: queues tell equal agents apart.
/// Throws as packet_plan() does, too.
Simulated simulate_packets(const Plan& plan, const Fabric& fabric, const Schedule& schedule, const CostModel& costs,
                           std::uint64_t seed, const SimulationOptions& options);

}  // namespace athanor
