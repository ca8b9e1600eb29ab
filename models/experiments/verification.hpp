#pragma once

#include <optional>

#include "models/experiments/scenario/measurement.hpp"
#include "sim/ratio.hpp"

namespace athanor {

/// What results are held against.
struct Verification {
  Measurement measurement;
  std::optional<Ratio> max_error;         ///< of |simulated / measured - 1|, at any size
  std::optional<Ratio> max_median_error;  ///< of the same, over all sizes and algorithms
  Bytes from;                             ///< sizes that count
  Bytes to = Bytes::max();
};

}  // namespace athanor
