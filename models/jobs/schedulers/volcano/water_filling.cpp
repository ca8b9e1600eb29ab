#include "models/jobs/schedulers/volcano/water_filling.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

namespace {

constexpr std::size_t kKinds = Amounts::kKinds;
constexpr double kNothing = 0.1;  ///< less than that Volcano takes for nothing

bool within(const AmountParts& a, const AmountParts& b) {
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (a[kind] > b[kind]) { return false; }
  }
  return true;
}

/// What a queue has after it has got its part of what is left.
AmountParts filled(const AmountParts& before, const AmountParts& left, double part, const QueueClaim& claim,
                   const AmountParts& most) {
  AmountParts after = before;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const double gained = before[kind] + (left[kind] >= kNothing ? left[kind] * part : 0);
    after[kind] = std::max(std::min({gained, most[kind], claim.request[kind]}), claim.guarantee[kind]);
  }
  return after;
}

}  // namespace

std::vector<AmountParts> real_capabilities(const AmountParts& total, const std::vector<QueueClaim>& claims) {
  AmountParts guaranteed = {};
  for (const QueueClaim& claim : claims) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) { guaranteed[kind] += claim.guarantee[kind]; }
  }
  std::vector<AmountParts> all;
  for (const QueueClaim& claim : claims) {
    AmountParts most = claim.capability;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const double for_others = guaranteed[kind] - claim.guarantee[kind];
      most[kind] = std::min(most[kind], std::max(total[kind] - for_others, 0.0));
    }
    all.push_back(most);
  }
  return all;
}

std::vector<AmountParts> water_filling(const AmountParts& total, const std::vector<QueueClaim>& claims) {
  const std::vector<AmountParts> most = real_capabilities(total, claims);
  std::vector<AmountParts> deserved(claims.size());
  std::vector<bool> met(claims.size());
  AmountParts left = total;
  while (true) {
    double weights = 0;
    for (std::size_t i = 0; i < claims.size(); ++i) { weights += met[i] ? 0 : claims[i].weight; }
    if (weights <= 0) { return deserved; }
    AmountParts gained = {};
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (met[i]) { continue; }
      const AmountParts after = filled(deserved[i], left, claims[i].weight / weights, claims[i], most[i]);
      met[i] = within(claims[i].request, after) || after == deserved[i];
      for (std::size_t kind = 0; kind < kKinds; ++kind) { gained[kind] += after[kind] - deserved[i][kind]; }
      deserved[i] = after;
    }
    bool changed = false;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      // Without a limit there is as much left as before.
      if (std::isinf(left[kind]) || gained[kind] == 0) { continue; }
      left[kind] -= gained[kind];
      changed = true;
    }
    if (!changed) { return deserved; }
  }
}

}  // namespace athanor
