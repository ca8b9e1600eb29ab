#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "algorithms/schedule/reduction.hpp"

namespace athanor {

/// The value of an element. Exact, but for an int64 beyond 2^53, which is rounded.
double element_value(DataType type, const std::byte* element);

/// The nearest value that the type has, ties to even: too large becomes infinite. Integers: the nearest whole number.
/// Requires that an integer holds it.
void put_element(DataType type, std::byte* to, double value);

/// The distance between neighbours of the type in the binade of `value` (the unit in its last place); that of the
/// smallest normal numbers below them, and at 0. 1 for integers. Requires a finite value.
double spacing(DataType type, double value);

/// A sum of finite doubles without any rounding: one wide fixed-point number, of which every double is a multiple of
/// the last place. For what a result of limited precision is held against. At most 2^30 additions.
class ExactSum {
 public:
  void add(double value);
  /// The nearest double, ties to even; a sum that is subnormal may be rounded twice.
  double rounded() const;

 private:
  static constexpr int kDigits = 72;
  static constexpr int kPoint = 1152;  ///< digit i counts 2^(32 i - kPoint): below what the smallest double needs

  using Digits = std::array<std::int64_t, kDigits>;
  static Digits carried(Digits digits);
  static double magnitude(const Digits& digits);

  Digits digits_{};  ///< with carries not yet done, of either sign
};

}  // namespace athanor
