#pragma once

#include <cstdint>

namespace athanor {

/// A sum modulo 2^64 of labels, one for each input element, as good as random: two different multisets of
/// contributions have the same sum with a probability of 2^-64. To finish is to multiply by an odd marker.
struct Label {
  std::uint64_t sum = 0;

  static Label input(std::uint32_t rank, std::int64_t element) { return {mix(rank, element, 0x9e3779b97f4a7c15U)}; }
  static Label rubbish(std::uint32_t agent, std::int64_t address) { return {mix(agent, address, 0xd1b54a32d192ed03U)}; }
  void add(const Label& other) { sum += other.sum; }
  void finish() { sum *= 0x2545f4914f6cdd1dU; }
  bool operator==(const Label&) const = default;

 private:
  /// The finaliser of splitmix64.
  static std::uint64_t mix(std::uint32_t owner, std::int64_t place, std::uint64_t seed) {
    std::uint64_t x = seed + (std::uint64_t{owner} << 40U) + static_cast<std::uint64_t>(place);
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  }
};

}  // namespace athanor
