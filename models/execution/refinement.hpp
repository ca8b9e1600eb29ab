#pragma once

#include <cstdint>
#include <vector>

#include "models/execution/mapped_schedule.hpp"

namespace athanor {

/// Things by number: to which class each belongs.
struct EqualClasses {
  std::vector<std::uint32_t> lanes;
  std::vector<std::uint32_t> connections;
  std::vector<std::uint32_t> links;  ///< of the plan's network
};

/// The coarsest equitable partition of a whole plan (see fold()).
EqualClasses equal_classes(const MappedSchedule& plan, const Schedule& schedule);

}  // namespace athanor
