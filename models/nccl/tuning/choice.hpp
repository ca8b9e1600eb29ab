#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/nccl/tuning/call.hpp"
#include "models/nccl/tuning/communicator.hpp"
#include "models/software/nccl.hpp"

namespace athanor {

/// What NCCL's tuning model says of one algorithm and protocol.
struct NcclEstimate {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  double latency = 0;    ///< us, of this size and number of pipelined calls
  double bandwidth = 0;  ///< GB/s of the call's bytes, of this size
  double time = 0;       ///< us
  std::string disabled;  ///< why it cannot run, in a few words; "": it can
};

/// Of every algorithm and protocol, in NCCL's order. Numbers are those that NCCL would compute even where `disabled`,
/// zero where its tables have none. NCCL 2.30.7: src/graph/tuning.cc, src/enqueue.cc; older versions as
/// NcclTuningTables says. Doubles, with + - * / alone: the same on every machine.
/// Requires ranks >= nodes >= 1 and bytes >= 0.
std::vector<NcclEstimate> nccl_estimates(const NcclCommunicator& communicator, const NcclCall& call);

/// One of them.
NcclEstimate nccl_estimate(const NcclCommunicator& communicator, const NcclCall& call, NcclAlgorithm algorithm,
                           NcclProtocol protocol);

/// Why NCCL does not take it for this call; "": it may. Does not depend on the bytes.
std::string nccl_obstacle(const NcclCommunicator& communicator, const NcclCall& call, NcclAlgorithm algorithm,
                          NcclProtocol protocol);

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
