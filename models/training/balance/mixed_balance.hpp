#pragma once

#include <cstdint>
#include <vector>

#include "models/training/step/simulate_step.hpp"

namespace athanor {

/// Layers by what GPUs compute: see balanced_layers(). A stage is as slow as its slowest GPU; what is before the first
/// and behind the last layer counts with the stage that has it; no stage gets more layers than fit into the memory of
/// its smallest GPU, as far as the fullest layer tells. Empty: nothing fits. Requires a schedule of one chunk a stage,
/// no more stages than layers, and layers that are recomputed or offloaded all or not at all.
std::vector<std::uint32_t> layers_by_speed(const TrainingSetup& setup);

/// Micro-batches of each copy by what its GPUs compute: see balanced_batch(). A copy's pipeline takes a micro-batch
/// through all its stages, and one more in the time of its slowest: what 1F1B takes whose first stages are not the
/// slowest. Requires a schedule of one chunk a stage, and as many micro-batches as copies at least.
std::vector<std::uint32_t> micro_batches_by_speed(const TrainingSetup& setup);

/// What a micro-batch takes forward and backward on the slowest stage of each copy: of all copies the most.
Time slowest_stage(const TrainingSetup& setup);

/// What a step's copies take by these times: the slowest one.
Time slowest_copy(const TrainingSetup& setup);

}  // namespace athanor
