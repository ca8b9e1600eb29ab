#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace athanor {

/// GPUs of a job on each node.
using GpuRow = std::vector<std::uint16_t>;

inline std::uint32_t gpus_of(const GpuRow& row) { return std::accumulate(row.begin(), row.end(), 0U); }

/// On which it has any.
inline std::uint32_t nodes_of(const GpuRow& row) {
  return static_cast<std::uint32_t>(std::count_if(row.begin(), row.end(), [](std::uint16_t gpus) { return gpus > 0; }));
}

}  // namespace athanor
