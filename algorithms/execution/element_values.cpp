#include "algorithms/execution/element_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "algorithms/execution/half_precision.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

template <class Element>
Element get(const std::byte* from) {
  Element element{};
  std::memcpy(&element, from, sizeof(element));
  return element;
}

template <class Element>
void put(std::byte* to, Element element) {
  std::memcpy(to, &element, sizeof(element));
}

/// Of a binary format: bits of the significand, the implied one included, and the exponent of its smallest normal
/// number.
struct Format {
  int digits = 0;
  int least_exponent = 0;
};

Format format_of(DataType type) {
  switch (type) {
    case DataType::float16: return {11, -14};
    case DataType::bfloat16: return {8, -126};
    case DataType::float32: return {24, -126};
    case DataType::float64:
    case DataType::int8:
    case DataType::int32:
    case DataType::int64: break;
  }
  return {53, -1022};
}

__extension__ using Bits128 = unsigned __int128;
constexpr std::uint64_t kLow = 0xFFFFFFFF;

}  // namespace

double element_value(DataType type, const std::byte* element) {
  switch (type) {
    case DataType::float32: return get<float>(element);
    case DataType::float64: return get<double>(element);
    case DataType::float16: return widen(get<Float16>(element));
    case DataType::bfloat16: return widen(get<BFloat16>(element));
    case DataType::int8: return get<std::int8_t>(element);
    case DataType::int32: return get<std::int32_t>(element);
    case DataType::int64: return static_cast<double>(get<std::int64_t>(element));
  }
  return 0;
}

void put_element(DataType type, std::byte* to, double value) {
  switch (type) {
    case DataType::float32: return put(to, static_cast<float>(value));
    case DataType::float64: return put(to, value);
    case DataType::float16: return put(to, narrow_to_float16(narrow_to_odd(value)));
    case DataType::bfloat16: return put(to, narrow_to_bfloat16(narrow_to_odd(value)));
    case DataType::int8: return put(to, static_cast<std::int8_t>(std::nearbyint(value)));
    case DataType::int32: return put(to, static_cast<std::int32_t>(std::nearbyint(value)));
    case DataType::int64: return put(to, static_cast<std::int64_t>(std::nearbyint(value)));
  }
}

double spacing(DataType type, double value) {
  if (!is_floating_point(type)) { return 1; }
  const Format format = format_of(type);
  const int exponent = value == 0 ? format.least_exponent : std::max(format.least_exponent, std::ilogb(value));
  return std::ldexp(1.0, exponent - (format.digits - 1));
}

void ExactSum::add(double value) {
  require(std::isfinite(value), "an exact sum of {}", value);
  if (value == 0) { return; }
  int exponent = 0;
  const double significand = std::frexp(std::fabs(value), &exponent);  // from 1/2 to below 1
  const int place = exponent - 53 + kPoint;
  const Bits128 bits = Bits128{static_cast<std::uint64_t>(std::ldexp(significand, 53))} << place % 32;
  for (int i = 0; i < 3; ++i) {
    const auto digit = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits >> 32 * i) & kLow);
    digits_[static_cast<std::size_t>(place / 32 + i)] += value < 0 ? -digit : digit;
  }
}

/// Every digit from 0 to below 2^32, but for the last, which has the sign.
ExactSum::Digits ExactSum::carried(Digits digits) {
  for (std::size_t i = 0; i + 1 < digits.size(); ++i) {
    digits[i + 1] += digits[i] >> 32;
    digits[i] &= static_cast<std::int64_t>(kLow);
  }
  return digits;
}

double ExactSum::rounded() const {
  Digits digits = carried(digits_);
  if (digits.back() >= 0) { return magnitude(digits); }
  for (std::size_t i = 0; i < digits.size(); ++i) { digits[i] = -digits_[i]; }
  return -magnitude(carried(digits));
}

/// The upper 64 bits, the last of them set where any below them are: converting them rounds once.
double ExactSum::magnitude(const Digits& digits) {
  int top = kDigits - 1;
  while (top > 2 && digits[static_cast<std::size_t>(top)] == 0) { --top; }
  Bits128 window = 0;
  for (int i = top; i > top - 3; --i) {
    window = window << 32 | static_cast<Bits128>(digits[static_cast<std::size_t>(i)]);
  }
  bool more = false;
  for (int i = 0; i <= top - 3; ++i) { more = more || digits[static_cast<std::size_t>(i)] != 0; }
  const auto upper = static_cast<std::uint64_t>(window >> 32);  // the top digit is not 0, so that 33 bits are in it
  const int surplus = upper == 0 ? 0 : 32 - std::countl_zero(upper);
  const Bits128 kept = window >> surplus;
  more = more || kept << surplus != window;
  const auto bits = static_cast<std::uint64_t>(kept) | (more ? 1U : 0U);
  return std::ldexp(static_cast<double>(bits), 32 * (top - 2) - kPoint + surplus);
}

}  // namespace athanor
