#pragma once

#include <string>

#include "models/nccl/tuning/communicator.hpp"
#include "models/software/stack_parts.hpp"

namespace athanor {

struct Cluster;

/// The parts of a stack that the machine and the library tell: all but who launches. `transport`: what carries messages
/// between nodes, where there are several.
StackParts machine_parts(const Cluster& cluster, const NcclCommunicator& communicator, const std::string& transport);

}  // namespace athanor
