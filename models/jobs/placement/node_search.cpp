#include "models/jobs/placement/node_search.hpp"

namespace athanor {

namespace {

std::optional<NodeId> first_with_room(const Inventory& inventory, std::uint16_t type, std::uint32_t free,
                                      const Demand& demand, std::uint32_t tasks) {
  for (auto node = inventory.next(type, free); node; node = inventory.next(type, free, NodeId{node->value + 1})) {
    if (inventory.room(*node, demand) >= tasks) { return node; }
  }
  return {};
}

}  // namespace

std::optional<NodeId> tightest(const Inventory& inventory, const Demand& demand, std::uint32_t tasks) {
  const std::uint32_t needed = demand.gpus * tasks;
  for (const std::uint16_t type : inventory.types(demand.gpu_types)) {
    for (std::uint32_t free = needed; free <= inventory.most_gpus(type); ++free) {
      if (const auto node = first_with_room(inventory, type, free, demand, tasks)) { return node; }
    }
  }
  return {};
}

std::optional<NodeId> emptiest(const Inventory& inventory, const Demand& demand, std::uint32_t tasks) {
  const std::uint32_t needed = demand.gpus * tasks;
  for (const std::uint16_t type : inventory.types(demand.gpu_types)) {
    for (std::uint32_t free = inventory.most_gpus(type) + 1; free-- > needed;) {
      if (const auto node = first_with_room(inventory, type, free, demand, tasks)) { return node; }
    }
  }
  return {};
}

}  // namespace athanor
