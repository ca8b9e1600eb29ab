#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/nccl/tuning/estimates.hpp"

namespace athanor {

/// What NCCL takes for a call.
struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  std::uint32_t channels = 1;        ///< at most: small calls are cut for fewer, see NcclWork
  std::uint32_t threads = 96;        ///< of each block
  double latency = 0;                ///< us
  double bandwidth = 0;              ///< GB/s
  double time = 0;                   ///< us, as NCCL predicts
  std::vector<std::string> reasons;  ///< sentences: who came second, what was asked for and cannot run, whose tables
};

/// The least time of nccl_estimates(); the first in NCCL's order among equals. Before 2.24, when nothing is left,
/// Ring; from 2.24 on SimulationError("nccl-invalid-usage"), as NCCL ends with ncclInvalidUsage then.
NcclChoice nccl_choose(const NcclCommunicator& communicator, const NcclCall& call);

/// The channels and threads of this algorithm and protocol, for whoever chooses by other times than NCCL's.
NcclChoice nccl_choice_of(const NcclCommunicator& communicator, const NcclCall& call, NcclAlgorithm algorithm,
                          NcclProtocol protocol);

}  // namespace athanor
