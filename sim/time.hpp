#pragma once

#include "sim/quantity.hpp"

namespace athanor {

struct Picoseconds {
  [[noreturn]] static void overflow();  ///< throws SimulationError: simulated time ends at 106 days
};

/// A point or a span of simulated time: whole picoseconds, up to 106 days.
using Time = Quantity<Picoseconds>;

constexpr double seconds(Time t) { return static_cast<double>(t.count()) / 1e12; }
constexpr double microseconds(Time t) { return static_cast<double>(t.count()) / 1e6; }

namespace literals {
constexpr Time operator""_ps(unsigned long long n) { return Time{static_cast<std::int64_t>(n)}; }
constexpr Time operator""_ns(unsigned long long n) { return Time{static_cast<std::int64_t>(n)} * 1'000; }
constexpr Time operator""_us(unsigned long long n) { return Time{static_cast<std::int64_t>(n)} * 1'000'000; }
constexpr Time operator""_ms(unsigned long long n) { return Time{static_cast<std::int64_t>(n)} * 1'000'000'000; }
constexpr Time operator""_s(unsigned long long n) { return Time{static_cast<std::int64_t>(n)} * 1'000'000'000'000; }
}  // namespace literals

}  // namespace athanor
