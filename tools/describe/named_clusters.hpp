#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/bill/bill.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

/// A cluster, what to call it, and what it was made from.
struct NamedCluster {
  std::string name;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const ClusterConfig> config;
  PriceList prices;  ///< of the scenario
};

/// The clusters of the scenario (with these changes) or the node preset that `argument` names, each once.
/// Files win over presets. Throws UsageError for what is neither, ScenarioError for what is wrong with a scenario.
std::vector<NamedCluster> named_clusters_of(const std::string& argument, const Library& library,
                                            const ScenarioChanges& changes);

/// Throws UsageError where there are several; `what` begins the message: "--dot writes".
const NamedCluster& the_only(const std::vector<NamedCluster>& clusters, std::string_view what);

}  // namespace athanor
