#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "models/jobs/inventory.hpp"
#include "models/jobs/placement/placement.hpp"

namespace athanor {

/// The node with the fewest wholly free GPUs that has room for so many tasks, the lowest of those; of tasks without
/// whole GPUs the same among nodes that have any room. Of several allowed types the earlier.
std::optional<NodeId> tightest(const Inventory& inventory, const Demand& demand, std::uint32_t tasks);

/// The node with the most wholly free GPUs that has room for so many tasks, the lowest of those.
std::optional<NodeId> emptiest(const Inventory& inventory, const Demand& demand, std::uint32_t tasks);

/// Puts all that it takes on the node that `next_node(tasks left)` says, then on the next one, until all tasks of a
/// group have a place. False: it says none before; what has been taken is in the allocation.
template <class NextNode>
bool fill_nodes(std::uint32_t group, const TaskGroup& tasks, Inventory& inventory, Allocation& allocation,
                NextNode next_node) {
  for (std::uint32_t left = tasks.tasks; left > 0;) {
    const std::optional<NodeId> node = next_node(left);
    if (!node) { return false; }
    const std::uint32_t here = std::min(left, inventory.room(*node, tasks.each));
    take_tasks(*node, group, tasks.each, here, inventory, allocation);
    left -= here;
  }
  return true;
}

}  // namespace athanor
