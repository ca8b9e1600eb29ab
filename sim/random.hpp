#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace athanor {

/// Scatters 64 bits: a bijection in which every input bit changes about half of the output bits. The finaliser of
/// SplitMix64 (Steele, Lea, Flood 2014). For hashing flows onto paths: the same everywhere, for ever.
constexpr std::uint64_t mix64(std::uint64_t bits) {
  bits += 0x9E3779B97F4A7C15;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

/// Joins a further value to a hash; the order of joining matters.
constexpr std::uint64_t join_hash(std::uint64_t hash, std::uint64_t value) { return mix64(hash ^ mix64(value)); }

/// A hash of a text, for naming streams.
constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = mix64(text.size());
  for (const char c : text) { hash = mix64(hash ^ static_cast<unsigned char>(c)); }
  return hash;
}

/// hash scaled into [0, n), evenly for a hash that is even. Requires n > 0.
constexpr std::uint64_t scale_hash(std::uint64_t hash, std::uint64_t n) {
  __extension__ using Product = unsigned __int128;
  return static_cast<std::uint64_t>(Product{hash} * n >> 64);
}

/// Random numbers that depend on the scenario's seed and the name of who draws them, and on nothing else: a new
/// stream somewhere never changes what another one yields. SplitMix64: equal on every platform, period 2^64.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name) : state_(join_hash(mix64(seed), hash_text(name))) {}

  /// 64 uniform bits.
  std::uint64_t bits() {
    const std::uint64_t drawn = mix64(state_);
    state_ += 0x9E3779B97F4A7C15;
    return drawn;
  }

  /// Uniform in [0, n), without bias. Requires n > 0.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t surplus = (0 - n) % n;  // 2^64 mod n: draws below it would favour small results
    std::uint64_t drawn = bits();
    while (drawn < surplus) { drawn = bits(); }
    return drawn % n;
  }

  /// Every order equally likely.
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t left = list.size(); left > 1; --left) { std::swap(list[left - 1], list[below(left)]); }
  }

 private:
  std::uint64_t state_;
};

}  // namespace athanor
