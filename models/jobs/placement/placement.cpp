#include "models/jobs/placement/placement.hpp"

namespace athanor {

std::optional<Allocation> GroupPlacement::place(const Shape& shape, Inventory& inventory) {
  Allocation allocation;
  for (std::uint32_t group = 0; group < shape.size(); ++group) {
    if (place_group(group, shape[group], inventory, allocation)) { continue; }
    inventory.give_back(allocation, shape);
    return {};
  }
  return allocation;
}

void take_tasks(NodeId node, std::uint32_t group, const Demand& demand, std::uint32_t tasks, Inventory& inventory,
                Allocation& allocation) {
  const std::uint32_t at_once = demand.gpu_milli > 0 ? 1 : tasks;
  for (std::uint32_t left = tasks; left > 0; left -= at_once) {
    allocation.push_back(inventory.share(node, group, demand, at_once));
    inventory.take(allocation.back(), demand);
  }
}

}  // namespace athanor
