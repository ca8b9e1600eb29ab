#include "models/experts/capacity.hpp"

#include <cmath>
#include <map>

#include "sim/check.hpp"

namespace athanor {

std::uint64_t expert_capacity(double factor, std::uint64_t tokens, std::uint32_t chosen, std::uint32_t experts) {
  require(factor > 0 && experts > 0, "a capacity of {} for {} experts", factor, experts);
  return static_cast<std::uint64_t>(std::ceil(factor * static_cast<double>(tokens) * chosen / experts));
}

/// The mean of min(X, capacity): each number of choices weighs as much as it is likely.
double kept_share(double load, std::uint64_t tokens, std::uint64_t capacity) {
  if (capacity >= tokens || load <= 0) { return 1; }
  if (load >= 1) { return static_cast<double>(capacity) / static_cast<double>(tokens); }
  const auto n = static_cast<double>(tokens);
  double kept = 0;
  double at_most = 0;
  for (std::uint64_t count = 0; count <= capacity; ++count) {
    const auto k = static_cast<double>(count);
    const double probability = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                                        k * std::log(load) + (n - k) * std::log1p(-load));
    kept += k * probability;
    at_most += probability;
  }
  kept += static_cast<double>(capacity) * (1 - at_most);
  return kept / (n * load);
}

std::vector<double> kept_shares(const std::vector<double>& loads, std::uint64_t tokens, std::uint64_t capacity) {
  std::map<double, double> known;
  std::vector<double> shares;
  for (const double load : loads) {
    const auto [found, fresh] = known.try_emplace(load, 1.0);
    if (fresh) { found->second = kept_share(load, tokens, capacity); }
    shares.push_back(found->second);
  }
  return shares;
}

}  // namespace athanor
