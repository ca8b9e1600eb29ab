#pragma once

#include <cstdint>
#include <optional>

#include "models/jobs/inventory.hpp"

namespace athanor {

/// The node with the fewest wholly free GPUs that has room for so many tasks, the lowest of those; of tasks without
/// whole GPUs the same among nodes that have any room. Of several allowed types the earlier.
std::optional<NodeId> tightest(const Inventory& inventory, const Demand& demand, std::uint32_t tasks);

/// The node with the most wholly free GPUs that has room for so many tasks, the lowest of those.
std::optional<NodeId> emptiest(const Inventory& inventory, const Demand& demand, std::uint32_t tasks);

}  // namespace athanor
