#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/workload.hpp"

namespace athanor {

/// The endpoints that each worker stands for, ascending: those that it names, else those that its calls and
/// messages name. A worker that has none of either stands for endpoint 0, and must be the only one.
/// Throws SimulationError("unknown-ranks") where these are not as many as the worker has ranks, or a rank is of two.
std::vector<std::vector<std::uint32_t>> ranks_of_workers(const Workload& workload);

}  // namespace athanor
