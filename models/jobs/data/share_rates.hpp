#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace athanor {

/// Somebody who takes of several resources at once, always in the same proportions.
struct RateClaim {
  double weight = 1;                                    ///< how fast its rate grows beside those of others, above 0
  double most = 0;                                      ///< the rate that it could use
  std::vector<std::pair<std::uint32_t, double>> takes;  ///< of a resource, for each unit of its rate
};

/// Max-min fair rates: all grow in proportion to their weights until they have enough or one of their resources is
/// used up. `capacities`: of each resource, in units each second.
std::vector<double> share_rates(const std::vector<RateClaim>& claims, std::vector<double> capacities);

}  // namespace athanor
