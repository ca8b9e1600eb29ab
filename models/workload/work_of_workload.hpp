#pragma once

#include "models/network/work_count.hpp"
#include "models/workload/collective_timer.hpp"

namespace athanor {

/// What pricing the workload's calls and running it have to do: each distinct call once, as CollectiveTimer does.
/// Throws SimulationError("no-route").
WorkCount work_of(const Workload& workload, PricingSettings settings);

}  // namespace athanor
