#pragma once

#include <memory>

#include "models/experiments/scenario/training_section.hpp"

namespace athanor {

struct Cluster;
struct ClusterConfig;
struct ReadingContext;
struct Training;

/// From the text of a training to what can be simulated on a cluster, which was made from `described`; what is in the
/// way is added to the problems, and then there is none. Completes the text's plan by what follows from the cluster.
std::shared_ptr<const Training> resolve_training(ReadingContext& context, const ClusterConfig& described,
                                                 const Cluster& cluster, TrainingConfig& config);

}  // namespace athanor
