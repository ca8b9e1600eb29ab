#pragma once

#include "models/experiments/training.hpp"

namespace athanor {

// What a user may want to know of what was taken for granted; each adds its note where there is anything to say.

/// That a GPU is under a power limit, and what that leaves of its clock.
void note_limit(const GpuRates& gpu, Training& training);
/// What is taken for granted of PyTorch's DataParallel.
void note_process(Training& training);
/// That logits are no whole 16 bytes.
void note_vocabulary(const ParallelPlan& plan, Training& training);

}  // namespace athanor
