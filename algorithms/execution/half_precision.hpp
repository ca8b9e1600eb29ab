#pragma once

#include <bit>
#include <cstdint>

namespace athanor {

/// IEEE 754 binary16, held as its bits.
struct Float16 {
  std::uint16_t bits = 0;
};

/// The upper half of an IEEE 754 binary32, held as its bits.
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// With masks rather than `?:`, which compilers may turn into branches that they then cannot vectorise.
[[gnu::always_inline]] inline std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

/// Both directions are exact or rounded to nearest, ties to even; infinities stay, NaNs stay NaN. Written without
/// branches and without arithmetic on subnormal binary32 numbers, so that compilers vectorise loops over them.
[[gnu::always_inline]] inline float widen(Float16 value) {
  constexpr std::uint32_t kExponent = 0x7C00U << 13;  // of binary16, where binary32 has its own
  constexpr std::uint32_t kRebias = (127U - 15U) << 23;
  const std::uint32_t magnitude = (value.bits & 0x7FFFU) << 13;
  const std::uint32_t exponent = magnitude & kExponent;
  const std::uint32_t normal = magnitude + kRebias + select(exponent == kExponent, kRebias, 0);
  // A subnormal m * 2^-24 is (1 + m * 2^-10) * 2^-14 without its implied 1.
  const float subnormal = std::bit_cast<float>(magnitude + kRebias + (1U << 23)) - 0x1p-14F;
  const std::uint32_t bits = select(exponent == 0, std::bit_cast<std::uint32_t>(subnormal), normal);
  return std::bit_cast<float>(bits | (value.bits & 0x8000U) << 16);
}

[[gnu::always_inline]] inline Float16 narrow_to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  // Half of the last place that is kept, less one where that place is even: a carry rounds, also into the exponent.
  const std::uint32_t odd = magnitude >> 13 & 1U;
  const std::uint32_t normal = (magnitude - ((127U - 15U) << 23) + 0xFFFU + odd) >> 13;
  // Below 2^-14: adding 1/2 leaves multiples of 2^-24 in the last places of the sum, rounded by the addition itself.
  const bool small = magnitude < 0x38800000U;
  const float shifted = std::bit_cast<float>(select(small, magnitude, 0)) + 0.5F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t special = select(magnitude > 0x7F800000U, 0x7E00U, 0x7C00U);
  const bool large = magnitude >= 0x47800000U;  // 2^16
  const std::uint32_t result = select(large, special, select(small, subnormal, normal));
  return {static_cast<std::uint16_t>(result | (bits >> 16 & 0x8000U))};
}

[[gnu::always_inline]] inline float widen(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

[[gnu::always_inline]] inline BFloat16 narrow_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
  const std::uint32_t quiet = bits >> 16 | 0x40U;
  return {static_cast<std::uint16_t>(select((bits & 0x7FFFFFFFU) > 0x7F800000U, quiet, rounded))};
}

/// Towards zero, and the last bit set where that is not exact: what rounds this to 22 bits or fewer rounds the double
/// itself, and only once (rounding to odd: Boldo and Melquiond 2008). NaN stays NaN.
inline float narrow_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  if (back == value || value != value) { return nearest; }
  const bool away = value < 0 ? back < value : back > value;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(nearest) - (away ? 1U : 0U)) | 1U);
}

}  // namespace athanor
