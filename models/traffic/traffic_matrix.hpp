#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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

/// From whom to whom, by endpoint. No pattern has an endpoint send to itself, and those that are drawn depend on the
/// seed alone.
using EndpointPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Everyone sends to one other and receives from one other: a derangement, all equally likely. Requires endpoints > 1.
EndpointPairs permutation_pairs(std::uint32_t endpoints, std::uint64_t seed);

/// Each of `senders` sends to `receiver`.
EndpointPairs incast_pairs(const std::vector<std::uint32_t>& senders, std::uint32_t receiver);

/// `count` times one endpoint and another one, all pairs equally likely each time. Requires endpoints > 1.
EndpointPairs random_pairs(std::uint32_t endpoints, std::uint32_t count, std::uint64_t seed);

/// i sends to (i + by) modulo endpoints. Requires by modulo endpoints > 0.
EndpointPairs shift_pairs(std::uint32_t endpoints, std::uint32_t by);

/// i sends to the endpoint whose number has the bits of i in reverse order; those whose number reads the same both ways
/// are silent. Requires endpoints that are a power of two.
EndpointPairs bit_reversal_pairs(std::uint32_t endpoints);

/// Endpoint r * side + c sends to c * side + r; the diagonal is silent. Requires endpoints = side * side.
EndpointPairs transpose_pairs(std::uint32_t endpoints);

/// Everyone sends to everyone else, first to its next neighbour.
EndpointPairs all_to_all_pairs(std::uint32_t endpoints);

}  // namespace athanor
