#pragma once

#include <cstddef>

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

}  // namespace athanor
