#pragma once

#include <cmath>
#include <initializer_list>

namespace athanor {

/// By which power of 1000 a time is off that is so many times what is expected, to a factor of two: 1e3 of one that was
/// written in ms and meant in us. 1: it is none.
inline double unit_slip(double ratio) {
  constexpr double kNear = 2;
  for (const double slip : {1e-6, 1e-3, 1e3, 1e6}) {
    if (std::abs(std::log(ratio / slip)) < std::log(kNear)) { return slip; }
  }
  return 1;
}

}  // namespace athanor
