#pragma once

#include <cstdint>
#include <vector>

#include "sim/random.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

class FieldValue;

/// A span of time that is the same each time, or drawn.
struct RandomSpan {
  enum class Law : std::uint8_t {
    fixed,
    exponential,
    weibull,     ///< of this shape: below 1 old parts fail less often than new ones, above 1 more often
    log_normal,  ///< the logarithm has this standard deviation
    empirical,   ///< one of `times`, each as likely
  };

  WallTime mean;
  Law law = Law::fixed;
  double shape = 1;
  std::vector<WallTime> times = {};  ///< of empirical; `mean` is theirs

  /// At least a microsecond where it is not fixed. Takes two numbers of the stream at most.
  WallTime draw(RandomStream& stream) const;
  bool operator==(const RandomSpan&) const = default;
};

/// "4h", {"mean": "4h", "law": "log_normal", "shape": 1.2}, or {"law": "empirical", "times": ["1h", "7h"]}. `least`: of
/// the mean, and of each of the times.
void visit(FieldValue& value, RandomSpan& span, WallTime least = {});

}  // namespace athanor
