#pragma once

#include <cstdint>

#include "sim/random.hpp"
#include "sim/ratio.hpp"
#include "sim/time.hpp"

namespace athanor {

/// How long a worker computes between two exchanges, drawn anew each time. Integers alone decide what is drawn, so that
/// it is equal everywhere.
struct ComputeTime {
  enum class Kind : std::uint8_t {
    constant,
    normal,       ///< the sum of twelve uniform numbers, which ends six deviations from the mean; never below 0
    exponential,  ///< `least`, and beyond it exponential
    pareto,       ///< a tail that falls as a power: P(longer than x) = (least / x)^shape
  };
  Kind kind = Kind::constant;
  Time mean = {};
  Time deviation = {};  ///< standard deviation (normal)
  Time least = {};      ///< at most the mean (exponential)
  Ratio shape{2, 1};    ///< greater than 1; the mean decides what is least (pareto)
  bool operator==(const ComputeTime&) const = default;
};

/// Times of pareto end at 2^30 times the least.
Time draw(const ComputeTime& time, RandomStream& stream);

/// -log2(bits / 2^64), of bits | 1, with 32 binary digits behind the point, rounded up by less than the last of them.
std::uint64_t minus_log2(std::uint64_t bits);

/// 2^(exponent / 2^32) x value, rounded down, but for the last few units of 2^-55 of it. Requires value >= 0 and an
/// exponent below 31 x 2^32. Throws SimulationError("time-overflow").
Time times_power_of_two(Time value, std::uint64_t exponent);

}  // namespace athanor
