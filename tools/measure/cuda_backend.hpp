#pragma once

#include <memory>

#include "tools/measure/backend.hpp"

namespace athanor {

/// All ranks on the GPUs of this machine, by one persistent kernel per GPU (algorithms/execution/cuda). Ranks that
/// share a GPU share its blocks: their times are those of one GPU's memory, not of a network. facts() holds "gpu".
///
/// Throws UsageError where Athanor was built without CUDA, and SimulationError "cuda" where there is no GPU.
std::unique_ptr<Backend> make_cuda_backend();

}  // namespace athanor
