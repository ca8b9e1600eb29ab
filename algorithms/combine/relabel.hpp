#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/schedule.hpp"

namespace athanor {

/// The same schedule with other ranks in its roles: role i is played by rank ranks[i], engines stay. What a collective
/// promises by rank (blocks, the root) goes with the role. Requires a permutation of the schedule's ranks.
std::unique_ptr<const Schedule> relabel(std::unique_ptr<const Schedule> schedule, std::vector<std::uint32_t> ranks);

}  // namespace athanor
