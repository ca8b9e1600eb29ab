#pragma once

#include <array>
#include <cstdint>

namespace athanor {

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
