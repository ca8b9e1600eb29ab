#pragma once

#include <memory>

#include "models/experiments/scenario/training_section.hpp"

namespace athanor {

struct CaseParts;
struct Training;

/// From the text of a training to what can be simulated on the cluster of its case; what is in the way is added to the
/// problems, and then there is none. Completes the text's plan by what follows from the cluster.
std::shared_ptr<const Training> resolve_training(CaseParts& parts, TrainingConfig& config);

}  // namespace athanor
