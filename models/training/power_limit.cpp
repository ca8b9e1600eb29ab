#include "models/training/power_limit.hpp"

#include <cmath>

#include "sim/check.hpp"

namespace athanor {

double clock_share(double limit_w, double most_w, double idle_w) {
  require(idle_w >= 0 && idle_w < limit_w && limit_w <= most_w, "a power limit of {} W, of {} W and {} W idle", limit_w,
          most_w, idle_w);
  constexpr double kVoltageFloor = 0.545;
  const double dynamic = (limit_w - idle_w) / (most_w - idle_w);
  if (dynamic >= kVoltageFloor) { return std::cbrt(dynamic); }
  return std::cbrt(kVoltageFloor) * dynamic / kVoltageFloor;
}

}  // namespace athanor
