#pragma once

#include <cstdint>

namespace athanor {

/// The partners of Swing among the 2^dimensions corners of a ring. In exchange s an even corner goes
/// (1 - (-2)^(s+1)) / 3 ranks up and an odd one as many down, or where `mirrored` the other way round.
std::uint32_t swing_partner(std::uint32_t dimensions, std::uint32_t corner, std::uint32_t exchange, bool mirrored);

/// The piece that a corner finishes (see HalvingCube). All that a corner reaches from exchange s on are, modulo 2^s,
/// the even corner with which it shares the place without its lowest bit, and that corner's partner of the last
/// exchange.
std::uint32_t swing_place(std::uint32_t dimensions, std::uint32_t corner, bool mirrored);

}  // namespace athanor
