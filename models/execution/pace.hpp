#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "sim/time.hpp"

namespace athanor {

/// Says when rounds (steps of a loop, or loops) have settled but for an error: from one anchor to the next every lane
/// went on as many rounds as the pilot, or one more or less, in a span that is the same by a round as the one before,
/// but for that error. How much faster one lane is than another is then less than one round in all of these, of which
/// there are at least 1 / error.
class Pace {
 public:
  /// `error`: at least 0, which no rounds have.
  explicit Pace(double error) : error_(error) {}

  bool is_wanted() const { return error_ > 0; }
  /// The fewest rounds that have settled. Requires is_wanted().
  std::uint64_t fewest() const { return static_cast<std::uint64_t>(std::ceil(1 / error_)); }
  /// Whether the pilot has kept its pace, now that it went so many rounds on in such a span, which follows the last one
  /// that was told of.
  bool is_kept(std::uint64_t rounds, Time span) {
    const double pace = static_cast<double>(span.count()) / static_cast<double>(rounds);
    const double before = std::exchange(before_, pace);
    return static_cast<double>(rounds) * error_ >= 1 && std::abs(pace / before - 1) <= error_;
  }
  /// Whether a lane that went on so many rounds kept pace with the pilot.
  static bool keeps_up(std::uint64_t own, std::uint64_t pilot) {
    return own + 1 == pilot || own == pilot || own == pilot + 1;
  }
  void forget() { before_ = 0; }

 private:
  double error_;
  double before_ = 0;  ///< ps a round, in the span that was told of last; 0: there is none
};

}  // namespace athanor
