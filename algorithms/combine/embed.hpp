#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/schedule.hpp"

namespace athanor {

/// A schedule for few ranks, run by each of several groups among many. `members` lists the groups one after the other:
/// role i of group g, of R roles, is played by rank members[g * R + i]. Ranks in no group have no lanes and no memory.
/// The engines of group g are agents ranks + g * engines onwards.
/// Requires whole groups of different ranks below `ranks`.
std::unique_ptr<const Schedule> embed(std::unique_ptr<const Schedule> schedule, std::vector<std::uint32_t> members,
                                      std::uint32_t ranks);

}  // namespace athanor
