#pragma once

#include <compare>
#include <cstdint>

namespace athanor {

/// A whole number with a unit. `Unit` names the unit, sets nothing else than what happens on overflow:
/// `[[noreturn]] static void overflow()`. All arithmetic is checked: a wrapped quantity is never returned.
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t count) : count_(count) {}

  constexpr std::int64_t count() const { return count_; }
  static constexpr Quantity zero() { return Quantity{0}; }
  static constexpr Quantity max() { return Quantity{INT64_MAX}; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity operator+(Quantity other) const {
    Quantity sum;
    if (__builtin_add_overflow(count_, other.count_, &sum.count_)) [[unlikely]] { Unit::overflow(); }
    return sum;
  }
  constexpr Quantity operator-(Quantity other) const {
    Quantity difference;
    if (__builtin_sub_overflow(count_, other.count_, &difference.count_)) [[unlikely]] { Unit::overflow(); }
    return difference;
  }
  constexpr Quantity operator*(std::int64_t factor) const {
    Quantity product;
    if (__builtin_mul_overflow(count_, factor, &product.count_)) [[unlikely]] { Unit::overflow(); }
    return product;
  }
  constexpr Quantity operator/(std::int64_t divisor) const { return Quantity{count_ / divisor}; }
  constexpr Quantity operator%(std::int64_t divisor) const { return Quantity{count_ % divisor}; }
  /// How often `other` fits, rounded towards zero.
  constexpr std::int64_t operator/(Quantity other) const { return count_ / other.count_; }
  constexpr Quantity operator%(Quantity other) const { return Quantity{count_ % other.count_}; }

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

 private:
  std::int64_t count_ = 0;
};

/// a / b rounded up, for a >= 0 and b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace athanor
