#pragma once

#include <optional>

#include "models/execution/mapped_schedule.hpp"

namespace athanor {

struct Cluster;

/// The quotient of a schedule on a cluster, as fold() makes it of a whole one, without laying out the whole: nodes and
/// what is in them (blocks) are compared from outside, and of each class of blocks one is laid out. Its partition may
/// be finer than the coarsest one, and is equitable too. Nothing where that gains nothing or does not tell everything:
/// nodes are hardly ever alike, paths hang on the order in which they are opened, or lead through nodes in which they
/// do not end. Requires vertices for all agents. Throws SimulationError("no-route").
std::optional<MappedSchedule> fold_by_blocks(const Schedule& schedule, const Cluster& cluster,
                                             const Placement& placement, const CostModel& costs, bool in_calls);

}  // namespace athanor
