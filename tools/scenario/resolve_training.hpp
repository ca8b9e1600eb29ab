#pragma once

#include <memory>

#include "sim/json/object_reader.hpp"
#include "tools/scenario/training_section.hpp"

namespace athanor {

/// From the text of a training to what can be simulated on the cluster of its case; what is in the way is added to the
/// problems, and then there is none. Completes the text's plan by what follows from the cluster.
std::shared_ptr<const Training> resolve_training(ObjectReader& reader, ReadingContext& context,
                                                 const Case& scenario_case, TrainingText& text);

}  // namespace athanor
