#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/jobs/profiles/application_profile.hpp"

namespace athanor {

/// A batch, and how fast a training goes on with it.
struct BatchRate {
  BatchSplit split;
  double rate = 0;  ///< progress per second: throughput times efficiency, which Pollux (OSDI 2021) calls goodput
};

/// Batches that a training may take on certain GPUs: which is best changes from epoch to epoch.
class BatchChoices {
 public:
  /// Batches in rising steps from the smallest to the largest of the profile. `step_time`: of a local batch there.
  BatchChoices(const ApplicationProfile& profile, std::uint32_t gpus, const std::function<StepTime(double)>& step_time);

  /// With the highest rate; no rate: the GPUs are too many for any batch of the profile.
  BatchRate best(std::size_t epoch) const;

 private:
  struct Choice {
    BatchSplit split;
    double seconds = 0;  ///< of an iteration
  };
  const ApplicationProfile* profile_;
  std::uint32_t gpus_;
  std::vector<Choice> choices_;
};

}  // namespace athanor
