#include "models/traffic/patterns.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "sim/check.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

bool moves_all(const std::vector<std::uint32_t>& to) {
  for (std::uint32_t i = 0; i < to.size(); ++i) {
    if (to[i] == i) { return false; }
  }
  return true;
}

EndpointPairs pairs_of(const std::vector<std::uint32_t>& to) {
  EndpointPairs pairs;
  for (std::uint32_t i = 0; i < to.size(); ++i) {
    if (to[i] != i) { pairs.emplace_back(i, to[i]); }
  }
  return pairs;
}

}  // namespace

/// One shuffle in e leaves nobody where it was, whatever their number.
EndpointPairs permutation_pairs(std::uint32_t endpoints, std::uint64_t seed) {
  require(endpoints > 1, "a permutation of {} endpoints", endpoints);
  RandomStream random(seed, "permutation");
  std::vector<std::uint32_t> to(endpoints);
  std::iota(to.begin(), to.end(), 0U);
  do { random.shuffle(to); } while (!moves_all(to));
  return pairs_of(to);
}

EndpointPairs incast_pairs(const std::vector<std::uint32_t>& senders, std::uint32_t receiver) {
  EndpointPairs pairs;
  pairs.reserve(senders.size());
  for (const std::uint32_t sender : senders) { pairs.emplace_back(sender, receiver); }
  return pairs;
}

EndpointPairs random_pairs(std::uint32_t endpoints, std::uint32_t count, std::uint64_t seed) {
  require(endpoints > 1, "pairs of {} endpoints", endpoints);
  RandomStream random(seed, "random pairs");
  EndpointPairs pairs;
  pairs.reserve(count);
  for (std::uint32_t k = 0; k < count; ++k) {
    const auto from = static_cast<std::uint32_t>(random.below(endpoints));
    const auto other = static_cast<std::uint32_t>(random.below(endpoints - 1));
    pairs.emplace_back(from, other < from ? other : other + 1);
  }
  return pairs;
}

EndpointPairs shift_pairs(std::uint32_t endpoints, std::uint32_t by) {
  require(endpoints > 0 && by % endpoints > 0, "a shift by {} among {} endpoints", by, endpoints);
  std::vector<std::uint32_t> to(endpoints);
  for (std::uint32_t i = 0; i < endpoints; ++i) {
    to[i] = static_cast<std::uint32_t>((std::uint64_t{i} + by) % endpoints);
  }
  return pairs_of(to);
}

EndpointPairs bit_reversal_pairs(std::uint32_t endpoints) {
  require(std::has_single_bit(endpoints), "{} endpoints are no power of two", endpoints);
  const int bits = std::countr_zero(endpoints);
  std::vector<std::uint32_t> to(endpoints, 0);
  for (std::uint32_t i = 0; i < endpoints; ++i) {
    for (int bit = 0; bit < bits; ++bit) { to[i] |= (i >> bit & 1U) << (bits - 1 - bit); }
  }
  return pairs_of(to);
}

EndpointPairs transpose_pairs(std::uint32_t endpoints) {
  std::uint32_t side = 0;
  while (std::uint64_t{side} * side < endpoints) { ++side; }
  require(side * side == endpoints, "{} endpoints are no square", endpoints);
  std::vector<std::uint32_t> to(endpoints);
  for (std::uint32_t i = 0; i < endpoints; ++i) { to[i] = i % side * side + i / side; }
  return pairs_of(to);
}

EndpointPairs all_to_all_pairs(std::uint32_t endpoints) {
  EndpointPairs pairs;
  for (std::uint32_t i = 0; i < endpoints; ++i) {
    for (std::uint32_t k = 1; k < endpoints; ++k) { pairs.emplace_back(i, (i + k) % endpoints); }
  }
  return pairs;
}

}  // namespace athanor
