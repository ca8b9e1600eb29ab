#include "models/traffic/traffic_matrix.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "sim/check.hpp"
#include "sim/random.hpp"

namespace athanor {

TrafficMatrix repeated(const TrafficMatrix& matrix, std::uint32_t rounds) {
  require(matrix.triggers.empty() && !matrix.window && rounds > 0, "rounds of a matrix that has triggers of its own");
  TrafficMatrix all;
  all.connections = matrix.connections;
  all.messages.reserve(matrix.messages.size() * rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const bool is_last = round + 1 == rounds;
    if (!is_last) {
      all.triggers.push_back(static_cast<std::uint32_t>(matrix.messages.size()));
      all.fires.push_back(round);
    }
    for (TrafficMatrix::Message message : matrix.messages) {
      message.trigger = round == 0 ? TrafficMatrix::kNoTrigger : round - 1;
      message.first_fired = round;
      message.fired = is_last ? 0 : 1;
      all.messages.push_back(message);
    }
  }
  return all;
}

std::uint32_t never_fired(const TrafficMatrix& matrix) {
  std::vector<std::uint32_t> awaited = matrix.triggers;
  std::vector<std::vector<std::uint32_t>> started_by(matrix.triggers.size());
  std::vector<std::uint32_t> ready;
  for (std::uint32_t m = 0; m < matrix.messages.size(); ++m) {
    const std::uint32_t trigger = matrix.messages[m].trigger;
    (trigger == TrafficMatrix::kNoTrigger ? ready : started_by[trigger]).push_back(m);
  }
  while (!ready.empty()) {
    const TrafficMatrix::Message& message = matrix.messages[ready.back()];
    ready.pop_back();
    for (std::uint32_t f = message.first_fired; f < message.first_fired + message.fired; ++f) {
      const std::uint32_t trigger = matrix.fires[f];
      if (awaited[trigger] == 0 || --awaited[trigger] > 0) { continue; }
      ready.insert(ready.end(), started_by[trigger].begin(), started_by[trigger].end());
      started_by[trigger].clear();
    }
  }
  const auto stuck = std::find_if(started_by.begin(), started_by.end(), [](const auto& list) { return !list.empty(); });
  return stuck == started_by.end() ? TrafficMatrix::kNoTrigger : static_cast<std::uint32_t>(stuck - started_by.begin());
}

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
