#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace athanor {

/// How gradients of one epoch scatter with one batch: the square of their mean, and their variance.
struct GradientNoise {
  double square = 0;
  double variance = 0;
};

/// How far a training with one batch had come at the end of an epoch.
struct EpochEnd {
  double progress = 0;  ///< in iterations of the smallest batch that would have come as far
  GradientNoise noise;
};

/// How much further a training comes with larger batches (McCandlish et al., "An Empirical Model of Large-Batch
/// Training", 2018; Pollux, OSDI 2021), epoch by epoch.
class Convergence {
 public:
  /// A batch larger than those before it. The first says how many epochs there are, and the others have as many.
  void add(std::uint32_t batch, std::vector<EpochEnd> epochs);

  std::size_t epochs() const { return runs_.empty() ? 0 : runs_.front().epochs.size(); }
  /// The smallest and the largest that were tried. Require a batch.
  std::uint32_t least_batch() const { return runs_.front().batch; }
  std::uint32_t most_batch() const { return runs_.back().batch; }
  /// That an epoch needs: to the least of all batches' progress at its end.
  double progress(std::size_t epoch) const;
  /// Progress of one iteration of a batch. Noise is linear between batches.
  double gain(std::size_t epoch, double batch) const;
  /// Leaves out all epochs behind the first so many. Requires that there are as many.
  void keep_epochs(std::size_t count);

 private:
  struct Run {
    std::uint32_t batch = 0;
    std::vector<EpochEnd> epochs;
  };
  GradientNoise noise(std::size_t epoch, double batch) const;
  double end_of(std::size_t epoch) const;

  std::vector<Run> runs_;  ///< by batch
};

}  // namespace athanor
