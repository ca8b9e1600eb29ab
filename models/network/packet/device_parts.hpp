#pragma once

#include <cstdint>

#include "models/network/packet/packet_topology.hpp"

namespace athanor {

/// By device, which of so many parts of the network it belongs to, from 0 on, so that all have about as much to do and
/// little crosses from one to another: hosts in blocks by their numbers, and each tier of switches in blocks in the
/// order of what they are joined to below, each block of a tier with as many hops of flows. Requires parts >= 1.
IdVector<DeviceIndex, std::uint32_t> device_parts(const PacketTopology& plan, std::uint32_t parts);

}  // namespace athanor
