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

/// Of a plan that is a quotient itself: how many lanes and connections each of its own stands for.
struct MemberCounts {
  std::vector<std::uint32_t> lanes;
  std::vector<std::uint32_t> connections;
};

/// The end of a connection that leaves a plan, or enters it from outside.
constexpr LaneIndex kOutside{0xffffffff};

/// The coarsest equitable partition of a whole plan (see fold()), or of a part of one, where connections may end
/// outside. `apart`: by connection; those of different colours are told apart from the beginning.
EqualClasses equal_classes(const MappedSchedule& plan, const Schedule& schedule, std::vector<Colour> apart);
inline EqualClasses equal_classes(const MappedSchedule& plan, const Schedule& schedule) {
  return equal_classes(plan, schedule, std::vector<Colour>(plan.connections.size()));
}

/// That of a quotient: classes of the whole that are the coarsest of those that its own are parts of. Paths name their
/// links in the order in which they are crossed.
EqualClasses equal_classes(const MappedSchedule& quotient, const Schedule& schedule, const MemberCounts& members);

/// The quotient of a quotient by it. Requires one that is not folded for calls.
MappedSchedule fold_further(const MappedSchedule& quotient, const Schedule& schedule, const MemberCounts& members);

}  // namespace athanor
