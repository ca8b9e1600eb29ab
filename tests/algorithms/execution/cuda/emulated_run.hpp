#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/cuda/cuda_executor.hpp"
#include "tests/algorithms/execution/cuda/emulated_gpus.hpp"

namespace athanor::emulation {

/// One collective on emulated GPUs.
struct EmulatedRun {
  Collective collective;
  Layout layout;
  CudaRequest request;
  int devices = 1;
};

std::string text(const Algorithm& algorithm, const EmulatedRun& run);

/// Fills the inputs, runs, and says which output is wrong, or what the run did that it may not; twice, since what is
/// prepared is used again. "" where all is right. On GPUs of its own, that are left empty.
std::string wrong_after_runs(const Schedule& schedule, const EmulatedRun& run);

/// Two runs of an algorithm where it fits, which are to be right. The number of runs.
int check_on_gpus(const Algorithm& algorithm, const EmulatedRun& run);

}  // namespace athanor::emulation
