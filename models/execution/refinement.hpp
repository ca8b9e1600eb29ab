#pragma once

#include <cstdint>
#include <vector>

#include "models/execution/mapped_schedule.hpp"
#include "models/execution/partition.hpp"

namespace athanor {

/// Things by number: to which class each belongs.
struct EqualClasses {
  std::vector<std::uint32_t> lanes;
  std::vector<std::uint32_t> connections;
  std::vector<std::uint32_t> links;  ///< of the plan's network
};

/// The end of a connection that leaves a plan, or enters it from outside.
constexpr LaneIndex kOutside{0xffffffff};

/// The coarsest equitable partition of a whole plan (see fold()), or of a part of one, where connections may end
/// outside. `apart`: by connection; those of different colours are told apart from the beginning.
EqualClasses equal_classes(const MappedSchedule& plan, const Schedule& schedule, std::vector<Colour> apart);
inline EqualClasses equal_classes(const MappedSchedule& plan, const Schedule& schedule) {
  return equal_classes(plan, schedule, std::vector<Colour>(plan.connections.size()));
}

}  // namespace athanor
