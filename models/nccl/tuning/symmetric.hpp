#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/nccl/tuning/communicator.hpp"

namespace athanor {

/// What NCCL predicts of one of its kernels for buffers that are registered as symmetric windows.
struct NcclSymmetricEstimate {
  std::string kernel;        ///< as NCCL names it: "AllReduce_RSxLDMC_AGxSTMC"
  std::uint32_t blocks = 1;  ///< the fewest whose time is at most 1.025 times that of the most
  double time = 0;           ///< us
  std::string disabled;      ///< why it cannot run; "": it can
};

/// Of all kernels of the call's function, on one node; none for Broadcast and Reduce. NCCL takes the least time. A
/// model apart from that of nccl_estimates(), from 2.27 on: NCCL 2.30.7, src/sym_kernels.cc, on sm90 and sm100.
///
/// Rates saturate smoothly, by exponentials and logarithms of the C library: equal on machines with the same one, and
/// to 1e-12 on others. Nothing that is simulated depends on them.
std::vector<NcclSymmetricEstimate> nccl_symmetric_estimates(const NcclCommunicator& communicator, const NcclCall& call);

}  // namespace athanor
