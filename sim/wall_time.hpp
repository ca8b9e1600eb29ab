#pragma once

#include "sim/quantity.hpp"

namespace athanor {

struct Microseconds {
  [[noreturn]] static void overflow();  ///< throws SimulationError: simulated time ends at 292,000 years
};

/// A point or a span of what clocks on the wall show while a cluster works for days and years: whole microseconds.
/// Collectives and packets count in Time, which is finer and ends after 106 days.
using WallTime = Quantity<Microseconds>;

constexpr double seconds(WallTime t) { return static_cast<double>(t.count()) / 1e6; }

namespace literals {
constexpr WallTime operator""_wall_us(unsigned long long n) { return WallTime{static_cast<std::int64_t>(n)}; }
constexpr WallTime operator""_wall_s(unsigned long long n) {
  return WallTime{static_cast<std::int64_t>(n)} * 1'000'000;
}
constexpr WallTime operator""_wall_h(unsigned long long n) { return 3'600_wall_s * static_cast<std::int64_t>(n); }
constexpr WallTime operator""_wall_d(unsigned long long n) { return 24_wall_h * static_cast<std::int64_t>(n); }
}  // namespace literals

}  // namespace athanor
