#pragma once

#include "sim/time.hpp"

namespace athanor {

/// 128-bit integers, for products of bytes and picoseconds that must not round.
__extension__ using Wide = __int128;

struct ByteCount {
  [[noreturn]] static void overflow();
};
struct BytesPerSecond {
  [[noreturn]] static void overflow();
};

using Bytes = Quantity<ByteCount>;
/// Bytes per second, one direction. 400 Gb/s is 50'000'000'000.
using Bandwidth = Quantity<BytesPerSecond>;

/// Time to move `size` at `rate`, rounded up to the next picosecond. Requires size >= 0 and rate > 0.
Time transfer_time(Bytes size, Bandwidth rate);

constexpr double gigabytes_per_second(Bandwidth b) { return static_cast<double>(b.count()) * 1e-9; }

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes{static_cast<std::int64_t>(n)}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes{static_cast<std::int64_t>(n)} * 1'024; }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes{static_cast<std::int64_t>(n)} * 1'048'576; }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes{static_cast<std::int64_t>(n)} * 1'073'741'824; }
constexpr Bandwidth operator""_GBps(unsigned long long n) {
  return Bandwidth{static_cast<std::int64_t>(n)} * 1'000'000'000;
}
constexpr Bandwidth operator""_GBps(long double n) { return Bandwidth{static_cast<std::int64_t>(n * 1e9L)}; }
constexpr Bandwidth operator""_Gbps(unsigned long long n) {
  return Bandwidth{static_cast<std::int64_t>(n)} * 125'000'000;
}
}  // namespace literals

}  // namespace athanor
