#pragma once

#include "models/network/packet/congestion/control.hpp"

namespace athanor {

/// What a full packet and its acknowledgement take where nothing waits. Requires a flow with hops.
Time base_round_trip(PacketLinks& links, std::uint32_t flow, const TransportSpec& transport);

/// Whether a flow leaves its host.
bool has_hops(const ControlSite& site, std::uint32_t flow);

/// Bytes of a full packet on the wire.
double full_packet(const TransportSpec& transport);

}  // namespace athanor
