#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algorithms/execution/threads/threads.hpp"
#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/contract.hpp"
#include "algorithms/schedule/reduction.hpp"

namespace athanor {

/// Sums of floating point numbers by engines that add integers, as SwitchML has them (Sapio et al., "Scaling
/// Distributed Machine Learning with In-Network Aggregation", NSDI 2021; scale and exponent as in its client library,
/// p4lang/p4app-switchML, cpu_exponent_quantizer_ppp.cc).
///
/// The vector is cut into blocks. For each, the P ranks agree on the least e with |x| < 2^e for all that any of them
/// has there. A rank sends round(x * L / 2^e) as int32, where L = floor((2^31 - 1) / P); engines add these; and whoever
/// gets a sum s takes it for s * 2^e / L. Nothing overflows: a rank's integers are at most L, and P * L < 2^31. Each
/// rank's rounding costs at most half a unit, so that |error| <= P * 2^e / (2 L) before the sum is rounded to the type.
///
/// SwitchML sends the exponents of a block with the integers of an earlier one, in 8 bits, and multiplies in float32;
/// here they are agreed on before, of any size, and multiplied in float64.
class FixedPoint {
 public:
  /// Requires that refusal() has no objection, and block > 0.
  FixedPoint(const Collective& collective, DataType type, Reduction reduction, Elements block);

  /// Why this cannot be added as integers, in words for the user, or nothing.
  static std::optional<std::string> refusal(const Collective& collective, DataType type, Reduction reduction);

  /// Takes part in the exponents of all blocks; for every rank before the first encode(). Throws SimulationError
  /// ("fixed-point") where an element is infinite or NaN.
  void agree(std::uint32_t rank, std::span<const std::byte> input);
  /// From a rank's input to as many int32.
  void encode(std::span<const std::byte> input, std::span<std::byte> integers) const;
  /// From the int32 that a rank got to its output, where the collective promises one. Divides an average.
  void decode(std::uint32_t rank, std::span<const std::byte> integers, std::span<std::byte> output) const;

  /// The greatest magnitude of an integer that a rank sends: L.
  std::int32_t limit() const { return limit_; }

 private:
  int exponent(std::int64_t element) const { return exponents_[static_cast<std::size_t>(element / block_.count())]; }

  Collective collective_;
  DataType type_;
  std::size_t size_;
  double divisor_;
  Elements block_;
  std::int32_t limit_;
  std::vector<int> exponents_;  ///< e of each block
};

/// What run_on_threads() does, with integers of `block` elements to an exponent on the way. Requires what FixedPoint
/// requires, and the collective of the schedule.
ExecutionResult run_in_fixed_point(const Schedule& schedule, const Collective& collective,
                                   const ExecutionRequest& request, Elements block);

}  // namespace athanor
