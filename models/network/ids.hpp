#pragma once

#include "sim/id_vector.hpp"

namespace athanor {

/// A connection of a network: of FlowGraph, or of several queue pairs that act as one. At packet level a flow.
using ConnectionId = Id<struct ConnectionTag>;
/// A link of a network: of FlowGraph, or of PacketTopology.
using LinkIndex = Id<struct LinkIndexTag>;
/// A host or a switch of a PacketTopology.
using DeviceIndex = Id<struct DeviceTag>;

}  // namespace athanor
