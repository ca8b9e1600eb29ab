#pragma once

#include <cstdint>

#include "sim/units.hpp"

namespace athanor {

// What a trace may ask for at most. Files are foreign: a number in them that is beyond these is a mistake or an attack,
// and is refused by its place before anything of that size is made.

/// Ranks, and endpoints that are named.
constexpr std::uint32_t kMostTraceRanks = 1'000'000;
/// Ranks in all groups of all communicators together.
constexpr std::uint64_t kMostGroupMembers = UINT64_C(1) << 25U;
/// Of one worker: operations refer to their stream in 16 bits.
constexpr std::uint32_t kMostStreams = 65'536;
/// Operations that a short text asks for by numbers: stages, repetitions, layers computed once more.
constexpr std::uint64_t kMostWrittenOut = 10'000'000;
/// Bytes of one message, and of what one rank puts into a collective.
constexpr std::int64_t kMostMessage = INT64_MAX / kMostTraceRanks / 8;

/// What may come out of one file, decompressed where it is compressed: of formats that are held in memory whole, and of
/// those that are read piece by piece. TraceOptions::limit takes the place of both.
constexpr Bytes kMostHeld{INT64_C(1) << 30};
constexpr Bytes kMostStreamed{INT64_C(1) << 32};

}  // namespace athanor
