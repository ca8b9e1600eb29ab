#pragma once

#include <memory>

#include "models/experiments/scenario/serving_section.hpp"

namespace athanor {

struct Cluster;
struct ClusterConfig;
struct ReadingContext;
struct Serving;

/// From the text of a serving to what can be simulated on a cluster, which was made from `described`; null: something
/// is in the way, and was added to the problems.
std::shared_ptr<const Serving> resolve_serving(ReadingContext& context, const ClusterConfig& described,
                                               const Cluster& cluster, const ServingConfig& config);

}  // namespace athanor
