#include "models/jobs/profiles/convergence.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

void Convergence::add(std::uint32_t batch, std::vector<EpochEnd> epochs) {
  require(runs_.empty() || (batch > most_batch() && epochs.size() == this->epochs()), "batches rise");
  runs_.push_back({batch, std::move(epochs)});
}

double Convergence::end_of(std::size_t epoch) const {
  const auto progress = [&](const Run& run) { return run.epochs[epoch].progress; };
  return progress(*std::min_element(runs_.begin(), runs_.end(),
                                    [&](const Run& a, const Run& b) { return progress(a) < progress(b); }));
}

double Convergence::progress(std::size_t epoch) const { return end_of(epoch) - (epoch > 0 ? end_of(epoch - 1) : 0); }

GradientNoise Convergence::noise(std::size_t epoch, double batch) const {
  const auto high = std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return run.batch >= batch; });
  if (high == runs_.begin()) { return high->epochs[epoch].noise; }
  if (high == runs_.end()) { return runs_.back().epochs[epoch].noise; }
  const auto low = high - 1;
  const double share = (batch - low->batch) / (high->batch - low->batch);
  const GradientNoise from = low->epochs[epoch].noise;
  const GradientNoise to = high->epochs[epoch].noise;
  return {from.square + (to.square - from.square) * share, from.variance + (to.variance - from.variance) * share};
}

double Convergence::gain(std::size_t epoch, double batch) const {
  const GradientNoise at = noise(epoch, batch);
  const double scale = batch / least_batch();
  return (at.variance + at.square) / (at.variance / scale + at.square);
}

void Convergence::keep_epochs(std::size_t count) {
  require(count <= epochs(), "{} of {} epochs", count, epochs());
  for (Run& run : runs_) { run.epochs.resize(count); }
}

}  // namespace athanor
