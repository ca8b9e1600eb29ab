#pragma once

#include <memory>

#include "models/experiments/scenario/layouts_section.hpp"

namespace athanor {

struct Cluster;
struct ClusterConfig;
struct LayoutsSetup;
struct ReadingContext;

/// From the text of layouts to what can be planned on a cluster, which was made from `described`; null: something is in
/// the way, and was added to the problems.
std::shared_ptr<const LayoutsSetup> resolve_layouts(ReadingContext& context, const ClusterConfig& described,
                                                    const Cluster& cluster, const LayoutsConfig& config);

}  // namespace athanor
