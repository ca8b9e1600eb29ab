#include "models/experiments/interval.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace athanor {

std::string interval_text(double low, double high) {
  return fmt::format("{:+.0f}/{:+.0f} %", (low - 1) * 100, (high - 1) * 100);
}

double spread_of(double low, double high) {
  constexpr double kTenth = 1.2816;  // standard deviations from the middle, beyond which one in ten lies
  return std::log(std::max(high, 1 / low)) / kTenth;
}

double certainty(double ratio, double spread, double other_spread, double shared) {
  const double variance = spread * spread + other_spread * other_spread - 2 * shared * spread * other_spread;
  if (ratio == 1) { return 0.5; }
  return std::erfc(-std::abs(std::log(ratio)) / std::sqrt(2 * variance)) / 2;
}

}  // namespace athanor
