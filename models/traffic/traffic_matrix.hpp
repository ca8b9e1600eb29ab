#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/units.hpp"

namespace athanor {

/// Point-to-point messages between the endpoints of a cluster: who sends how much to whom, and what starts it.
struct TrafficMatrix {
  static constexpr std::uint32_t kNoTrigger = 0xffffffff;

  /// Carries its messages one after the other; it is hashed on its own where routing chooses by hash.
  struct Connection {
    std::uint32_t from = 0;  ///< endpoint
    std::uint32_t to = 0;    ///< another endpoint
  };
  struct Message {
    std::uint32_t connection = 0;
    Bytes size;  ///< above zero
    Time start;  ///< after the launch, or after `trigger` has fired
    std::uint32_t trigger = kNoTrigger;
    std::uint32_t first_fired = 0;  ///< into `fires`
    std::uint32_t fired = 0;
  };
  /// Every connection repeats its message until `end`; what is delivered from `begin` on counts.
  struct Window {
    Time begin;
    Time end;
  };

  std::vector<Connection> connections;
  std::vector<Message> messages;
  std::vector<std::uint32_t> fires;     ///< triggers that the delivery of a message counts for
  std::vector<std::uint32_t> triggers;  ///< deliveries that each waits for, at least one
  std::optional<Window> window;         ///< then there is one message a connection, and there are no triggers
};

/// The messages of a matrix again and again: each round starts when all of the round before has been delivered.
/// Requires a matrix without triggers and window, and at least one round.
TrafficMatrix repeated(const TrafficMatrix& matrix, std::uint32_t rounds);

/// The first trigger that never fires, since what it waits for waits for it; kNoTrigger: every message starts.
std::uint32_t never_fired(const TrafficMatrix& matrix);

}  // namespace athanor
