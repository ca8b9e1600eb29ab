#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/profiles/convergence.hpp"
#include "models/jobs/profiles/step_profile.hpp"

namespace athanor {

/// What was measured of an application: how long its steps take, and what they are worth.
struct ApplicationProfile {
  std::string name;
  StepProfile steps;
  Convergence convergence;
  std::uint32_t least_local_batch = 1;  ///< that one GPU works on at once
  std::uint32_t most_local_batch = 1;
};

/// How a batch is cut: each GPU works on `local` of it `accumulated` times without an exchange of gradients, and once
/// more with one.
struct BatchSplit {
  std::uint32_t local = 1;
  std::uint32_t accumulated = 0;

  bool operator==(const BatchSplit&) const = default;
  std::uint32_t batch(std::uint32_t gpus) const { return gpus * local * (accumulated + 1); }
};

/// Of a batch over so many GPUs: the fewest accumulations with which a local batch fits, at least one where a single
/// GPU has a batch larger than the smallest (its gradients would not show their noise otherwise), and altogether no
/// more than the largest batch of the profile.
BatchSplit split_of(std::uint32_t batch, std::uint32_t gpus, const ApplicationProfile& profile);

/// Of one iteration.
double seconds_of_iteration(const ApplicationProfile& profile, const GpuCounts& counts, BatchSplit split);

/// Progress per second in an epoch.
double progress_rate(const ApplicationProfile& profile, std::size_t epoch, const GpuCounts& counts, BatchSplit split);

/// Profiles of all applications of a workload.
struct ProfileSet {
  std::vector<ApplicationProfile> applications;
  double interference = 0;  ///< share of its speed that a job on several nodes loses to another such job on one of them
  bool whole_seconds = false;  ///< an epoch takes as many as are nearest, and as many from each new start of its job on

  /// None: nullptr.
  const ApplicationProfile* find(std::string_view name) const;
};

}  // namespace athanor
