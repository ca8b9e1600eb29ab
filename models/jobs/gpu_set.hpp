#pragma once

#include <bit>
#include <cstdint>

namespace athanor {

/// GPUs of one node, by their numbers there.
class GpuSet {
 public:
  static constexpr std::uint32_t kMost = 128;

  /// The first so many. Requires count <= kMost.
  static constexpr GpuSet first(std::uint32_t count) {
    const auto low = [](std::uint32_t n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; };
    GpuSet set;
    set.words_[0] = low(count);
    set.words_[1] = count > 64 ? low(count - 64) : 0;
    return set;
  }

  constexpr std::uint32_t count() const {
    return static_cast<std::uint32_t>(std::popcount(words_[0]) + std::popcount(words_[1]));
  }
  constexpr bool empty() const { return (words_[0] | words_[1]) == 0; }
  constexpr bool has(std::uint32_t gpu) const { return (words_[gpu / 64] >> (gpu % 64) & 1U) != 0; }
  constexpr void add(std::uint32_t gpu) { words_[gpu / 64] |= std::uint64_t{1} << (gpu % 64); }
  constexpr void remove(std::uint32_t gpu) { words_[gpu / 64] &= ~(std::uint64_t{1} << (gpu % 64)); }
  /// The least of all. Requires one.
  constexpr std::uint32_t least() const {
    return static_cast<std::uint32_t>(words_[0] != 0 ? std::countr_zero(words_[0]) : 64 + std::countr_zero(words_[1]));
  }
  /// The so many with the lowest numbers; all, where there are no more.
  constexpr GpuSet lowest(std::uint32_t count) const {
    GpuSet left = *this;
    GpuSet taken;
    for (; count > 0 && !left.empty(); --count) {
      const std::uint32_t gpu = left.least();
      left.remove(gpu);
      taken.add(gpu);
    }
    return taken;
  }

  constexpr GpuSet operator|(GpuSet other) const { return {words_[0] | other.words_[0], words_[1] | other.words_[1]}; }
  constexpr GpuSet operator&(GpuSet other) const { return {words_[0] & other.words_[0], words_[1] & other.words_[1]}; }
  constexpr GpuSet operator-(GpuSet other) const {
    return {words_[0] & ~other.words_[0], words_[1] & ~other.words_[1]};
  }
  constexpr bool operator==(const GpuSet&) const = default;

  constexpr GpuSet() = default;

 private:
  constexpr GpuSet(std::uint64_t low, std::uint64_t high) : words_{low, high} {}

  std::uint64_t words_[2] = {0, 0};
};

/// NICs of one node, likewise.
using NicSet = GpuSet;

}  // namespace athanor
