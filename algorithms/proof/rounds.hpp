#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// Successive elements that a message carries, each made of equally many inputs of one place.
struct Carried {
  std::optional<std::uint32_t> origin;  ///< the rank whose input it is; absent: a sum over several ranks
  std::optional<Elements> first;        ///< element in the inputs that it is made of; absent: none, or mixed ones
  Elements count;
  std::uint32_t terms = 0;  ///< inputs that were added up; 0: nothing that any rank put in
  bool operator==(const Carried&) const = default;
};

struct RoundMessage {
  std::uint32_t round = 0;  ///< in which it is sent and arrives, from 1 on
  AgentId from;
  AgentId to;
  std::uint32_t part = 0;  ///< of the schedule, see Rounds::parts
  Elements count;
  bool added = false;  ///< the receiver adds it to something else
  std::vector<Carried> carries;
};

/// A schedule as a picture of who sends what to whom and when, where a primitive that sends takes one unit of time and
/// every other none, and connections have slots without end.
struct Rounds {
  std::uint32_t rounds = 0;
  /// Parts that never wait for each other: channels, trees, rings, the copies of an algorithm on a torus. Numbered from
  /// 0 by their first lane.
  std::uint32_t parts = 0;
  std::vector<RoundMessage> messages;  ///< by round, then sender, receiver and part
};

/// Requires a schedule that ends (see prove). Memory grows with the messages and their elements.
Rounds rounds_of(const Schedule& schedule);

}  // namespace athanor
