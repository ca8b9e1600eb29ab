#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace athanor {

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
