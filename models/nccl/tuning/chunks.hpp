#pragma once

#include <cstdint>

#include "models/nccl/tuning/choice.hpp"
#include "models/nccl/tuning/communicator.hpp"

namespace athanor {

/// Buffer steps of one chunk and of one message. A connection has 8 steps.
struct NcclSteps {
  std::uint32_t chunk = 1;
  std::uint32_t slice = 1;
};
constexpr std::uint32_t kNcclBufferSteps = 8;

/// 4 and 2 for all-reduce, all-gather and reduce-scatter by Ring with Simple; 1 and 1 otherwise.
NcclSteps nccl_steps(NcclFunction function, NcclAlgorithm algorithm, NcclProtocol protocol);

/// Chunks are multiples of it: 16 bytes, 1920 or 512.
Bytes nccl_grain(NcclProtocol protocol);

/// Payload of a chunk where `channels` share `bytes` of the call (1: the bytes of one channel alone): what the buffer
/// holds, less where that would leave too few chunks for the pipeline. NCCL 2.30.7, src/enqueue.cc.
Bytes nccl_chunk(const NcclCommunicator& communicator, const NcclCall& call, const NcclChoice& choice,
                 std::uint32_t channels, Bytes bytes);

}  // namespace athanor
