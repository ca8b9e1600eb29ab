#pragma once

#include <cmath>

#include "sim/time.hpp"

namespace athanor {

/// Seconds of a model as a time, rounded up to a picosecond; beyond the end of simulated time a SimulationError.
inline Time time_of(double seconds) {
  constexpr double kPicoseconds = 1e12;
  if (!(seconds * kPicoseconds < static_cast<double>(INT64_MAX))) { Picoseconds::overflow(); }
  return Time{static_cast<std::int64_t>(std::ceil(seconds * kPicoseconds))};
}

}  // namespace athanor
