#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// What a rank sends to another.
struct RankMessage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Elements count;
};
using MessageRounds = std::vector<std::vector<RankMessage>>;

/// The messages of a schedule, round by round (RoundClock), without elements too: they synchronise. Memory grows with
/// the messages. Requires a schedule without engines that ends (see prove).
MessageRounds message_rounds(const Schedule& schedule);

}  // namespace athanor
