#include "models/jobs/profiles/application_profile.hpp"

#include <algorithm>
#include <numeric>

#include "sim/check.hpp"

namespace athanor {

BatchSplit split_of(std::uint32_t batch, std::uint32_t gpus, const ApplicationProfile& profile) {
  require(batch > 0 && gpus > 0, "a batch over GPUs");
  const auto rounded_up = [](std::uint32_t a, std::uint32_t b) { return a / b + (a % b > 0 ? 1 : 0); };
  const std::uint32_t of_gpu = rounded_up(batch, gpus);
  BatchSplit split;
  split.accumulated = rounded_up(of_gpu, profile.most_local_batch) - 1;
  if (gpus == 1 && batch > profile.convergence.least_batch()) { split.accumulated = std::max(split.accumulated, 1U); }
  const std::uint32_t most = profile.convergence.most_batch() / (gpus * (split.accumulated + 1));
  split.local = std::max(1U, std::min(rounded_up(of_gpu, split.accumulated + 1), most));
  return split;
}

double seconds_of_iteration(const ApplicationProfile& profile, const GpuCounts& counts, BatchSplit split) {
  const StepTime time = profile.steps.at(counts, split.local);
  return time.step + split.accumulated * (time.step - time.sync);
}

double progress_rate(const ApplicationProfile& profile, std::size_t epoch, const GpuCounts& counts, BatchSplit split) {
  const std::uint32_t gpus = std::accumulate(counts.begin(), counts.end(), 0U);
  return profile.convergence.gain(epoch, split.batch(gpus)) / seconds_of_iteration(profile, counts, split);
}

const ApplicationProfile* ProfileSet::find(std::string_view name) const {
  const auto at = std::find_if(applications.begin(), applications.end(),
                               [&](const ApplicationProfile& each) { return each.name == name; });
  return at == applications.end() ? nullptr : &*at;
}

}  // namespace athanor
