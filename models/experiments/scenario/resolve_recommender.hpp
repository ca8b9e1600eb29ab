#pragma once

#include <memory>

#include "models/experiments/scenario/recommender_section.hpp"

namespace athanor {

struct Cluster;
struct ClusterConfig;
struct ReadingContext;
struct Recommender;

/// From the text of a recommender to what can be simulated on a cluster, which was made from `described`; null:
/// something is in the way, and was added to the problems.
std::shared_ptr<const Recommender> resolve_recommender(ReadingContext& context, const ClusterConfig& described,
                                                       const Cluster& cluster, const RecommenderConfig& config);

}  // namespace athanor
