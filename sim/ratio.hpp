#pragma once

#include <compare>
#include <cstdint>

#include "sim/quantity.hpp"
#include "sim/units.hpp"

namespace athanor {

/// An exact fraction, as "0.95" is written in a scenario. Requires denominator > 0; not reduced.
struct Ratio {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  constexpr std::strong_ordering operator<=>(const Ratio& other) const {
    return Wide{numerator} * other.denominator <=> Wide{other.numerator} * denominator;
  }
  constexpr bool operator==(const Ratio& other) const { return (*this <=> other) == std::strong_ordering::equal; }
};

/// The product in lowest terms; where that needs more than 18 digits, to as many. Requires both >= 0.
constexpr Ratio product(Ratio a, Ratio b) {
  constexpr Wide kMost = 1'000'000'000'000'000'000;
  Wide numerator = Wide{a.numerator} * b.numerator;
  Wide denominator = Wide{a.denominator} * b.denominator;
  Wide divisor = denominator;
  for (Wide rest = numerator; rest != 0;) {
    const Wide next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  numerator /= divisor;
  denominator /= divisor;
  while (numerator > kMost || denominator > kMost) {
    numerator /= 2;
    denominator = (denominator + 1) / 2;
  }
  return {static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)};
}

/// For reports only: nothing that decides an outcome may be computed from it.
constexpr double to_double(Ratio ratio) {
  return static_cast<double>(ratio.numerator) / static_cast<double>(ratio.denominator);
}

/// quantity x ratio, rounded down (a rate that is reached) or up (a time that is needed). Requires both >= 0.
template <class Unit>
constexpr Quantity<Unit> scaled_down(Quantity<Unit> quantity, Ratio ratio) {
  const Wide scaled = Wide{quantity.count()} * ratio.numerator / ratio.denominator;
  if (scaled > INT64_MAX) { Unit::overflow(); }
  return Quantity<Unit>{static_cast<std::int64_t>(scaled)};
}
template <class Unit>
constexpr Quantity<Unit> scaled_up(Quantity<Unit> quantity, Ratio ratio) {
  const Wide scaled = (Wide{quantity.count()} * ratio.numerator + ratio.denominator - 1) / ratio.denominator;
  if (scaled > INT64_MAX) { Unit::overflow(); }
  return Quantity<Unit>{static_cast<std::int64_t>(scaled)};
}

}  // namespace athanor
