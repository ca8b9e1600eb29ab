#pragma once

#include <cstddef>
#include <vector>

#include "tools/calibrate/training/pooled_steps.hpp"

namespace athanor {

/// What one would guess without a simulation: that a step reaches the share of its GPUs' peak (model FLOPs utilization,
/// MFU) that others did.
enum class SimpleRule : std::uint8_t {
  constant,  ///< the mean of all that are told of its table, else of such GPUs and precisions, else of all
  nearest,   ///< that of the told step of most similar parameters, GPUs and tokens, of such GPUs and precisions
};
constexpr std::size_t kSimpleRules = 2;

/// log(guessed / measured) of each of the judged steps; NaN of the others. Requires a step that is told.
std::vector<double> guessed(const PooledSteps& steps, SimpleRule rule, const std::vector<std::size_t>& told,
                            const std::vector<std::size_t>& judged);

}  // namespace athanor
