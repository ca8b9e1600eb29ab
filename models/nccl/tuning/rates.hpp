#pragma once

#include <cstdint>

#include "models/nccl/tuning/call.hpp"
#include "models/nccl/tuning/communicator.hpp"
#include "models/software/nccl.hpp"

namespace athanor {

/// What the search found for this algorithm: CollNetChain and PAT have the tree's or its own, NVLSTree that of NVLS.
const ChannelGraph& graph_of(const NcclCommunicator& communicator, NcclAlgorithm algorithm);

/// Which algorithm and protocol NCCL's tables have an entry for. Ring has every function and protocol; the others, but
/// Tree, know Simple alone.
bool nccl_has(const NcclCommunicator& communicator, NcclFunction function, NcclAlgorithm algorithm,
              NcclProtocol protocol);

/// The two numbers of NCCL's table: GB/s of the call's bytes, and us. Neither depends on the size. Requires nccl_has()
/// and more than one rank.
double nccl_rate(const NcclCommunicator& communicator, NcclFunction function, NcclAlgorithm algorithm,
                 NcclProtocol protocol);
double nccl_latency(const NcclCommunicator& communicator, NcclFunction function, NcclAlgorithm algorithm,
                    NcclProtocol protocol);

/// floor(log2(value)). Requires value > 0.
/// Of its GPUs, as the tables count them: compute capability below 80, 80 to 89, 90 to 99, from 100.
std::size_t nccl_generation(const NcclCommunicator& communicator);

std::uint32_t floor_log2(std::uint64_t value);

}  // namespace athanor
