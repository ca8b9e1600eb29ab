#pragma once

#include <span>

#include "algorithms/execution/mpi/communicator.hpp"
#include "algorithms/execution/quantized/quantized_all_reduce.hpp"

namespace athanor {

/// As quantized_all_reduce(), of this process's rank alone: the same bits. To be called by all processes alike. Throws
/// as MpiExecution.
void quantized_all_reduce(const Communicator& communicator, QuantizedRank& rank, std::span<const float> input,
                          std::span<float> output);

}  // namespace athanor
