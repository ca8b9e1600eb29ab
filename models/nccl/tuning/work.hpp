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

/// How a call is cut. Every channel takes one contiguous part of the buffer (of a rank's block, for all-gather and
/// reduce-scatter) and works on it apart from the others.
struct NcclWork {
  /// Of one channel.
  struct Part {
    Bytes bytes;  ///< 0: there is no such channel
    Bytes chunk;  ///< payload of one step, a multiple of the grain
  };
  Part first;   ///< of the first channel
  Part middle;  ///< of each of channels - 2
  Part last;
  std::uint32_t channels = 1;  ///< that have work
  std::uint32_t threads = 96;
  Bytes chunk;               ///< the largest of the parts'
  std::uint32_t slices = 1;  ///< messages of a chunk
  std::uint32_t slots = 8;   ///< messages of one connection under way at once
  Bytes grain;               ///< chunks are multiples of it
};

/// NCCL 2.30.7, src/enqueue.cc: "cells" of at least 32 KiB of traffic are dealt to the channels in order, and the chunk
/// follows from the part of each. Before 2.22 all channels take equal parts, and the chunk follows from the whole, as
/// with algorithms in the network.
NcclWork nccl_work(const NcclCommunicator& communicator, const NcclCall& call, const NcclChoice& choice);

}  // namespace athanor
