#include "algorithms/execution/quantized/quantized_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::size_t kScale = sizeof(float);

/// A floating point number of 8 bits.
struct SmallFloat {
  int mantissa;  ///< bits
  int bias;
  double largest;

  int least_exponent() const { return 1 - bias; }
};

constexpr SmallFloat kE4m3{3, 7, 448};
constexpr SmallFloat kE5m2{2, 15, 57344};

/// The nearest code, not beyond the largest.
std::uint8_t code_of(const SmallFloat& format, double value) {
  const double magnitude = std::min(std::fabs(value), format.largest);
  const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80 : 0);
  if (magnitude == 0) { return sign; }
  int exponent = std::max(std::ilogb(magnitude), format.least_exponent());
  auto significand = static_cast<int>(std::nearbyint(std::ldexp(magnitude, format.mantissa - exponent)));
  if (significand == 2 << format.mantissa) {
    significand /= 2;
    ++exponent;
  }
  const int implied = 1 << format.mantissa;
  if (significand < implied) { return static_cast<std::uint8_t>(sign | significand); }
  return static_cast<std::uint8_t>(sign | (exponent + format.bias) << format.mantissa | (significand - implied));
}

double value_of(const SmallFloat& format, std::uint8_t code) {
  const int implied = 1 << format.mantissa;
  const int exponent = (code & 0x7F) >> format.mantissa;
  const int rest = code & (implied - 1);
  const int significand = exponent == 0 ? rest : implied + rest;
  const double magnitude = std::ldexp(significand, std::max(exponent, 1) - format.bias - format.mantissa);
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

double largest_code(QuantizedNumber number) {
  switch (number) {
    case QuantizedNumber::int8: return 127;
    case QuantizedNumber::fp8_e4m3: return kE4m3.largest;
    case QuantizedNumber::fp8_e5m2: return kE5m2.largest;
    case QuantizedNumber::one_bit: return 1;
  }
  return 1;
}

std::uint8_t code_of(QuantizedNumber number, double value) {
  switch (number) {
    case QuantizedNumber::int8:
      return static_cast<std::uint8_t>(static_cast<std::int8_t>(std::clamp(std::nearbyint(value), -127.0, 127.0)));
    case QuantizedNumber::fp8_e4m3: return code_of(kE4m3, value);
    case QuantizedNumber::fp8_e5m2: return code_of(kE5m2, value);
    case QuantizedNumber::one_bit: break;
  }
  return 0;
}

double value_of(QuantizedNumber number, std::uint8_t code) {
  switch (number) {
    case QuantizedNumber::int8: return static_cast<std::int8_t>(code);
    case QuantizedNumber::fp8_e4m3: return value_of(kE4m3, code);
    case QuantizedNumber::fp8_e5m2: return value_of(kE5m2, code);
    case QuantizedNumber::one_bit: break;
  }
  return 0;
}

float scale_of(QuantizedNumber number, std::span<const float> block) {
  double largest = 0;
  double sum = 0;
  for (const float each : block) {
    if (!std::isfinite(each)) {
      throw SimulationError("not-finite", fmt::format("{} has no {}", name(number), static_cast<double>(each)));
    }
    largest = std::max(largest, std::fabs(static_cast<double>(each)));
    sum += std::fabs(static_cast<double>(each));
  }
  if (number == QuantizedNumber::one_bit) { return static_cast<float>(sum / static_cast<double>(block.size())); }
  return static_cast<float>(largest / largest_code(number));
}

std::size_t code_bytes(QuantizedNumber number, std::size_t count) {
  return number == QuantizedNumber::one_bit ? (count + 7) / 8 : count;
}

void put_signs(std::span<const float> block, std::byte* codes) {
  std::fill(codes, codes + code_bytes(QuantizedNumber::one_bit, block.size()), std::byte{0});
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i] < 0) { codes[i / 8] |= std::byte{1} << (i % 8); }
  }
}

void put_codes(QuantizedNumber number, std::span<const float> block, float scale, std::byte* codes) {
  if (number == QuantizedNumber::one_bit) { return put_signs(block, codes); }
  for (std::size_t i = 0; i < block.size(); ++i) {
    const double value = scale == 0 ? 0 : static_cast<double>(block[i]) / static_cast<double>(scale);
    codes[i] = std::byte{code_of(number, value)};
  }
}

float number_of(QuantizedNumber number, const std::byte* codes, std::size_t place, float scale) {
  if (number == QuantizedNumber::one_bit) {
    const bool negative = (codes[place / 8] >> (place % 8) & std::byte{1}) != std::byte{0};
    return negative ? -scale : scale;
  }
  const double value = value_of(number, std::to_integer<std::uint8_t>(codes[place]));
  return static_cast<float>(value * static_cast<double>(scale));
}

/// Calls `see` with the first number and the count of each block, and where its bytes begin.
template <class See>
void for_each_block(const QuantizedFormat& format, std::size_t count, See see) {
  std::size_t at = 0;
  for (std::size_t first = 0; first < count; first += format.block) {
    const std::size_t size = std::min(format.block, count - first);
    see(first, size, at);
    at += kScale + code_bytes(format.number, size);
  }
}

}  // namespace

std::string_view name(QuantizedNumber number) {
  switch (number) {
    case QuantizedNumber::int8: return "int8";
    case QuantizedNumber::fp8_e4m3: return "fp8_e4m3";
    case QuantizedNumber::fp8_e5m2: return "fp8_e5m2";
    case QuantizedNumber::one_bit: return "one_bit";
  }
  return "";
}

std::span<const QuantizedNumber> quantized_numbers() {
  static constexpr std::array all{QuantizedNumber::int8, QuantizedNumber::fp8_e4m3, QuantizedNumber::fp8_e5m2,
                                  QuantizedNumber::one_bit};
  return all;
}

/// The largest code of a floating point number stands in a binade whose steps are 2^(8 - 3) and 2^(15 - 2).
double half_step(QuantizedNumber number) {
  switch (number) {
    case QuantizedNumber::int8: return 0.5 / 127;
    case QuantizedNumber::fp8_e4m3: return 16.0 / 448;
    case QuantizedNumber::fp8_e5m2: return 4096.0 / 57344;
    case QuantizedNumber::one_bit: return 1;
  }
  return 1;
}

std::size_t quantized_size(const QuantizedFormat& format, std::size_t count) {
  require(format.block > 0, "blocks of no numbers");
  std::size_t bytes = 0;
  for_each_block(format, count, [&](std::size_t /*first*/, std::size_t size, std::size_t at) {
    bytes = at + kScale + code_bytes(format.number, size);
  });
  return bytes;
}

void quantize(const QuantizedFormat& format, std::span<const float> numbers, std::span<std::byte> coded) {
  require(coded.size() == quantized_size(format, numbers.size()), "{} bytes for {} numbers", coded.size(),
          numbers.size());
  for_each_block(format, numbers.size(), [&](std::size_t first, std::size_t size, std::size_t at) {
    const auto block = numbers.subspan(first, size);
    const float scale = scale_of(format.number, block);
    std::memcpy(&coded[at], &scale, kScale);
    put_codes(format.number, block, scale, &coded[at] + kScale);
  });
}

void dequantize(const QuantizedFormat& format, std::span<const std::byte> coded, std::span<float> numbers) {
  require(coded.size() == quantized_size(format, numbers.size()), "{} bytes for {} numbers", coded.size(),
          numbers.size());
  for_each_block(format, numbers.size(), [&](std::size_t first, std::size_t size, std::size_t at) {
    float scale = 0;
    std::memcpy(&scale, &coded[at], kScale);
    for (std::size_t i = 0; i < size; ++i) {
      numbers[first + i] = number_of(format.number, &coded[at] + kScale, i, scale);
    }
  });
}

}  // namespace athanor
