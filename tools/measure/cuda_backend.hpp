#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/measure/backend.hpp"

namespace athanor {

/// All ranks on the GPUs of this machine, by one persistent kernel per GPU (algorithms/execution/cuda). Ranks that
/// share a GPU share its blocks: their times are those of one GPU's memory, not of a network. facts() holds "gpu".
///
/// Throws UsageError where Athanor was built without CUDA, and SimulationError "cuda" where there is no GPU.
std::unique_ptr<Backend> make_cuda_backend();

/// What CUDA tells of the GPUs of this machine, as far as they are all like the first.
struct GpuFacts {
  std::vector<std::string> models;
  std::uint32_t resident_blocks = 1;  ///< at once on one of them, of the executor's size
  Bytes cache_size;                   ///< of the L2
};
/// Throws as make_cuda_backend, and SimulationError "cuda" where the GPUs are of several kinds.
GpuFacts gpu_facts();

/// How long a schedule of float32 takes on the first so many GPUs, of zeros and unchecked: of at least three iterations
/// after some to warm up, and of as many more as fit into `patience`. Throws SimulationError as CudaExecutor does.
std::vector<std::chrono::nanoseconds> time_on_gpus(const Schedule& schedule, std::uint32_t gpus,
                                                   std::chrono::nanoseconds patience);

}  // namespace athanor
