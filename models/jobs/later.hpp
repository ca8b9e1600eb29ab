#pragma once

#include "sim/wall_time.hpp"

namespace athanor {

/// A span after a point in time; max, which stands for never, stays that.
constexpr WallTime later(WallTime from, WallTime by) {
  return by > WallTime::max() - from ? WallTime::max() : from + by;
}

}  // namespace athanor
