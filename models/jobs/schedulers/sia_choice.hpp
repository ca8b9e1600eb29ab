#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/jobs/schedulers/gpu_row.hpp"

namespace athanor {

/// Numbers of GPUs that Sia (SOSP 2023) gives a job: powers of two within a node, and whole nodes. In rising order.
std::vector<std::uint32_t> sia_sizes(std::uint32_t per_node, std::uint32_t most);

/// GPUs of one type that a job may get.
struct SiaOption {
  std::uint16_t type = 0;
  std::uint32_t gpus = 0;
  double cost = 0;
};
struct SiaJob {
  std::vector<SiaOption> options;
  double without = 0;  ///< the cost of no GPUs
};

/// What each job gets, no more than so many GPUs of each type, such that the sum of all costs is least: Sia's integer
/// program. For GPUs of one type it is solved size by size, and of equal sums that is taken which has fewer GPUs for
/// the last jobs; for several by branch and bound, down to kSiaGap. `gpus`: by type. None: a job gets no GPUs.
std::vector<std::optional<SiaOption>> cheapest_options(const std::vector<SiaJob>& jobs,
                                                       const std::vector<std::uint32_t>& gpus);

/// Where jobs that get so many GPUs are. Those that have as many stay where they are as long as all others can be
/// placed beside them; else all are placed anew, the largest first. A job that cannot be placed even so has none.
std::vector<GpuRow> sia_places(const std::vector<std::uint32_t>& sizes, const std::vector<GpuRow>& present,
                               const std::vector<std::uint32_t>& capacity);

}  // namespace athanor
