#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/jobs/inventory.hpp"

namespace athanor {

/// A task as many of a workload are.
struct TypicalTask {
  Demand demand;      ///< cores and GPUs alone
  double weight = 0;  ///< its share of those that are kept
};

/// The demands of a list by falling number of tasks until they make up this share of all, equal ones by what they ask
/// for. Their weights add up to 1.
std::vector<TypicalTask> typical_tasks(const JobList& jobs, double share);

/// What is free on one node, apart from memory.
struct FreeOnNode {
  std::uint32_t cpu_milli = 0;
  std::uint32_t gpus = 0;                   ///< that the node has
  std::uint16_t milli[GpuSet::kMost] = {};  ///< left of each
};
FreeOnNode free_on(NodeId node, const Inventory& inventory);

/// How many thousandths of GPUs of a node the next typical task is expected to have no use for: where it does not fit
/// all that is free, where it does what is free on GPUs that are too full for it (Weng et al., "Beware of
/// Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", ATC 2023). `fits_type`: for
/// each typical task, whether the node's type is one of those that it needs.
double fragmentation(const FreeOnNode& free, std::span<const TypicalTask> tasks, const std::vector<bool>& fits_type);

}  // namespace athanor
