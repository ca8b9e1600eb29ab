#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace athanor {

/// What a number becomes that shares a scale with the others of its block.
enum class QuantizedNumber : std::uint8_t {
  int8,      ///< -127 to 127
  fp8_e4m3,  ///< 4 bits of exponent and 3 of mantissa: up to 448 (Open Compute Project, OFP8; no infinities)
  fp8_e5m2,  ///< 5 and 2: up to 57,344
  one_bit,   ///< its sign; the scale is the mean magnitude of the block
};

/// "int8", "fp8_e4m3", "fp8_e5m2", "one_bit".
std::string_view name(QuantizedNumber number);
/// All of them, in the order of their declaration.
std::span<const QuantizedNumber> quantized_numbers();

struct QuantizedFormat {
  QuantizedNumber number = QuantizedNumber::int8;
  std::size_t block = 256;  ///< numbers that share a scale, at least 1; the last block may have fewer
  bool operator==(const QuantizedFormat&) const = default;
};

/// How far a number of a block is off at most once it is quantised, as a share of the block's largest magnitude: half a
/// step there. 1/254, 1/28, 1/14; of one_bit 1.
double half_step(QuantizedNumber number);

/// Bytes of so many numbers: of each block its scale in float32, then its codes.
std::size_t quantized_size(const QuantizedFormat& format, std::size_t count);

/// To the nearest code of x / scale, ties to even, with scale = largest magnitude of the block / largest code, each in
/// float32; one_bit: 0 counts as positive. Requires quantized_size() bytes. Throws SimulationError ("not-finite") where
/// a number is infinite or NaN.
void quantize(const QuantizedFormat& format, std::span<const float> numbers, std::span<std::byte> coded);
/// Code x scale, rounded to float32.
void dequantize(const QuantizedFormat& format, std::span<const std::byte> coded, std::span<float> numbers);

}  // namespace athanor
