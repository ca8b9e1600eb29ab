#pragma once

#include <cstdint>

#include "models/execution/simulate.hpp"
#include "models/software/gpu_costs.hpp"
#include "models/software/thread_costs.hpp"

namespace athanor {

/// Runs a schedule whose agents share one machine instead of a network: agents are simulated one by one, and no link
/// carries anything. Of the options only the timeline counts. `slots`: messages that a connection holds, at least what
/// the schedule needs. Both throw SimulationError("deadlock", "time-overflow").

/// Agents are threads on so many processors. What is timed is a repetition: caches hold what the same schedule left
/// there. Throws SimulationError("wiring") where the schedule's ends do not fit together.
Simulated simulate_on_threads(const Schedule& schedule, std::uint32_t processors, const ThreadCosts& costs,
                              Bytes element_size, std::uint32_t slots, const SimulationOptions& options);

/// Agents are on so many GPUs, each of their lanes a thread block. Throws SimulationError("gpu-residency").
Simulated simulate_on_gpus(const Schedule& schedule, std::uint32_t gpus, const GpuCosts& costs, Bytes element_size,
                           std::uint32_t slots, const SimulationOptions& options);

}  // namespace athanor
