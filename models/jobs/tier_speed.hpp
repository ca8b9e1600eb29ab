#pragma once

#include <vector>

#include "models/jobs/speed.hpp"

namespace athanor {

/// Jobs work the slower the farther apart their nodes are.
class TierSpeed final : public SpeedModel {
 public:
  /// `by_tier`: the speed of a job on one node, then of one within a domain of the first tier of nodes, of the next
  /// one, and so on; the last one holds for all beyond. At least one.
  explicit TierSpeed(const std::vector<double>& by_tier);

  JobPace pace(const RunningJob& running, WallTime done, const ClusterState& state) override;

 private:
  std::vector<Speed> by_tier_;
};

}  // namespace athanor
