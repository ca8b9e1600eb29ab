#pragma once

#include "models/jobs/inventory.hpp"
#include "models/jobs/schedulers/volcano/settings.hpp"

namespace athanor {

/// Volcano's score of a node by binpack: 100 times the weighted mean of what is used with the task of what the node
/// has, over what the task asks for and nodes have limits of; 0 where it does not fit.
double binpack_score(const Demand& demand, NodeId node, const Inventory& inventory, const BinpackWeights& weights);

/// Kubernetes' scores by which nodeorder goes, each from 0 to 100 in whole numbers, weighted: least and most requested
/// of cores and memory, and how alike the used shares of cores, memory and GPUs are.
double nodeorder_score(const Demand& demand, NodeId node, const Inventory& inventory, const NodeorderWeights& weights);

/// The sum of both where they are plugins.
double node_score(const Demand& demand, NodeId node, const Inventory& inventory, const VolcanoSettings& settings);

}  // namespace athanor
