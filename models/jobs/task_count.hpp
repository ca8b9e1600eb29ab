#pragma once

#include <cstdint>

#include "models/jobs/inventory.hpp"

namespace athanor {

/// Tasks of all groups.
inline std::uint32_t tasks_of(const Shape& shape) {
  std::uint32_t sum = 0;
  for (const TaskGroup& group : shape) { sum += group.tasks; }
  return sum;
}

/// Tasks on all nodes.
inline std::uint32_t tasks_of(const Allocation& where) {
  std::uint32_t sum = 0;
  for (const NodeShare& share : where) { sum += share.tasks; }
  return sum;
}

}  // namespace athanor
