#pragma once

#include "models/network/packet/congestion/control.hpp"

namespace athanor {

/// What a full packet and its acknowledgement take where nothing waits. Requires a flow with hops.
Time base_round_trip(const ControlSite& site, ConnectionId flow);

/// Whether a flow leaves its host.
bool has_hops(const ControlSite& site, ConnectionId flow);

}  // namespace athanor
