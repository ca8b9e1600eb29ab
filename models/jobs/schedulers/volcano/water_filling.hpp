#pragma once

#include <array>
#include <vector>

#include "models/jobs/schedulers/volcano/amounts.hpp"

namespace athanor {

/// Parts of what a cluster has, in the units of Amounts; infinite where there is no limit.
using AmountParts = std::array<double, Amounts::kKinds>;

/// What a queue may claim of the cluster.
struct QueueClaim {
  double weight = 1;
  AmountParts request = {};     ///< of its jobs, running and waiting
  AmountParts capability = {};  ///< at most
  AmountParts guarantee = {};   ///< at least
};

/// What each queue may have at most, so that all guarantees of others can be kept.
std::vector<AmountParts> real_capabilities(const AmountParts& total, const std::vector<QueueClaim>& claims);

/// What Volcano's proportion gives each queue: again and again, each queue that is not met gets its part by weight of
/// what is left, up to its real capability and its request, and at least its guarantee, until nothing is left or
/// nothing changes. A queue is met when it has all that it requests, or has gained nothing.
std::vector<AmountParts> water_filling(const AmountParts& total, const std::vector<QueueClaim>& claims);

}  // namespace athanor
