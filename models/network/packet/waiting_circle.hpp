#pragma once

#include <cstdint>
#include <vector>

#include "models/network/packet/packet_links.hpp"

namespace athanor {

/// Links whose ports wait for each other for ever: each was stopped by a buffer whose packets of that class all wait at
/// ports that were stopped likewise, and nobody was told to go on. A circle, each link waiting for the next one and the
/// last for the first; empty: something will move, or nothing waits. Of several circles the one through the lowest
/// link. O(links + waiting packets), times the length of what only seems to wait.
std::vector<std::uint32_t> waiting_circle(const PacketLinks& links);

}  // namespace athanor
