#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// What copies of a model do not have alike.
struct MixedPlan {
  std::vector<std::uint32_t> micro_batches = {};  ///< of each copy, by data rank; empty: all have as many
  bool operator==(const MixedPlan&) const = default;
};

struct ParallelPlan;

/// The same plan as if all copies had so many micro-batches.
ParallelPlan with_micro_batches(const ParallelPlan& plan, std::uint32_t micro_batches);

}  // namespace athanor
