#include "models/jobs/profiles/batch_choices.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

BatchChoices::BatchChoices(const ApplicationProfile& profile, std::uint32_t gpus,
                           const std::function<StepTime(double)>& step_time)
    : profile_(&profile), gpus_(gpus) {
  constexpr int kSteps = 50;
  const double least = std::max(profile.convergence.least_batch(), gpus * profile.least_local_batch);
  const double most = profile.convergence.most_batch();
  if (least > most) { return; }
  for (int step = 0; step <= kSteps; ++step) {
    const double batch = least * std::pow(most / least, static_cast<double>(step) / kSteps);
    const BatchSplit split = split_of(static_cast<std::uint32_t>(std::llround(batch)), gpus, profile);
    const bool known = !choices_.empty() && choices_.back().split == split;
    if (known || split.local < profile.least_local_batch) { continue; }
    const StepTime time = step_time(split.local);
    choices_.push_back({split, time.step + split.accumulated * (time.step - time.sync)});
  }
}

BatchRate BatchChoices::best(std::size_t epoch) const {
  BatchRate best;
  for (const Choice& choice : choices_) {
    const double rate = profile_->convergence.gain(epoch, choice.split.batch(gpus_)) / choice.seconds;
    if (rate > best.rate) { best = {choice.split, rate}; }
  }
  return best;
}

}  // namespace athanor
