#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/jobs/schedulers/gpu_row.hpp"

namespace athanor {

/// Numbers of GPUs that Sia (SOSP 2023) gives a job: powers of two within a node, and whole nodes. In rising order.
std::vector<std::uint32_t> sia_sizes(std::uint32_t per_node, std::uint32_t most);

/// What a job may get, and what each costs.
struct SiaJob {
  std::vector<std::uint32_t> sizes;
  std::vector<double> costs;  ///< of each size
  double without = 0;         ///< the cost of no GPUs
};

/// GPUs of each job such that the sum of all costs is least of all that is possible with so many GPUs: Sia's integer
/// program, which for GPUs of one type is solved exactly size by size. Of equal ones that with fewer GPUs for the last
/// jobs.
std::vector<std::uint32_t> cheapest_sizes(const std::vector<SiaJob>& jobs, std::uint32_t gpus);

/// Where jobs that get so many GPUs are. Those that have as many stay where they are as long as all others can be
/// placed beside them; else all are placed anew, the largest first. A job that cannot be placed even so has none.
std::vector<GpuRow> sia_places(const std::vector<std::uint32_t>& sizes, const std::vector<GpuRow>& present,
                               const std::vector<std::uint32_t>& capacity);

}  // namespace athanor
