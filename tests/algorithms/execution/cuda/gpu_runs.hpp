#pragma once

#include <span>
#include <string>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/cuda/cuda_executor.hpp"
#include "sim/random.hpp"

namespace athanor {

/// One collective on GPUs, real ones or emulated.
struct GpuRun {
  Collective collective;
  Layout layout;
  CudaRequest request;  ///< slots: as many, or as the schedule needs
};

std::string text(const Algorithm& algorithm, const GpuRun& run);

/// One of all sizes, layouts, types, reductions, in and out of place, slots, and ways to spread ranks over so many
/// GPUs, on blocks of one of these numbers of threads.
GpuRun draw_gpu_run(RandomStream& random, CollectiveKind kind, std::uint32_t ranks, int gpus,
                    std::span<const std::uint32_t> threads);

/// Fills the inputs, runs, and says which output is wrong; twice, since what is prepared is used again. "" where all is
/// right.
std::string wrong_after_runs(const Schedule& schedule, const GpuRun& run);
constexpr int kRunsOfEach = 2;

}  // namespace athanor
