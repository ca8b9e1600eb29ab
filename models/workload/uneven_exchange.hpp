#pragma once

#include <memory>
#include <vector>

#include "algorithms/schedule/all_to_all_v_sizes.hpp"
#include "models/workload/collective_timer.hpp"

namespace athanor {

/// What an all-to-all-v of bytes takes among these endpoints, by rank, if nothing else runs: as CollectiveTimer
/// estimates calls of other kinds. `timer`: of the same settings, which finds the latency. Throws as run_jobs().
CallEstimate estimate_of_exchange(const PricingSettings& settings, CollectiveTimer& timer,
                                  const std::vector<std::uint32_t>& endpoints,
                                  std::shared_ptr<const AllToAllVSizes> sizes);

}  // namespace athanor
